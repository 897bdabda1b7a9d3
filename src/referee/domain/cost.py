"""What things cost, on the four axes of a budget, and how much of a budget is left (A2, A3)."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from referee.domain.reason import StopReason
from referee.domain.value import Value

ZERO = Decimal(0)
HIGH_PRESSURE = 0.8


class Cost(Value):
    """An amount on each axis. Money is exact (`Decimal`, US dollars); `seconds` is wall clock.

    `tool_seconds` is the time spent in checks and commands, accounted apart from the model (A6).
    """

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: Decimal = ZERO
    tool_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            steps=self.steps + other.steps,
            seconds=self.seconds + other.seconds,
            tokens=self.tokens + other.tokens,
            usd=self.usd + other.usd,
            tool_seconds=self.tool_seconds + other.tool_seconds,
        )

    def __sub__(self, other: Cost) -> Cost:
        return Cost(
            steps=self.steps - other.steps,
            seconds=self.seconds - other.seconds,
            tokens=self.tokens - other.tokens,
            usd=self.usd - other.usd,
            tool_seconds=self.tool_seconds - other.tool_seconds,
        )


class Budget(Value):
    """Hard limits; each axis stops the run on its own."""

    max_steps: int = Field(default=8, ge=1, le=10_000)
    timeout: float = Field(default=240.0, gt=0, le=7 * 86_400)
    max_tokens: int = Field(default=400_000, ge=0)
    max_cost_usd: Decimal = Field(default=Decimal("0.50"), ge=0)


class BudgetView(Value):
    """A budget and what was spent of it, for pure decisions."""

    budget: Budget
    spent: Cost

    @property
    def pressure(self) -> float:
        """The worst axis as a share of its limit, 0 to 1. An axis limited to nothing does not press."""
        b, s = self.budget, self.spent
        shares = [s.steps / b.max_steps, s.seconds / b.timeout]
        if b.max_tokens:
            shares.append(s.tokens / b.max_tokens)
        if b.max_cost_usd:
            shares.append(float(s.usd / b.max_cost_usd))
        return min(1.0, max(shares))

    @property
    def seconds_left(self) -> float:
        """Wall-clock seconds that may still be spent, never negative."""
        return max(0.0, self.budget.timeout - self.spent.seconds)

    def refusal(self, wanted: Cost) -> StopReason | None:
        """The reason why `wanted` cannot be paid, or None if it can."""
        after, b = self.spent + wanted, self.budget
        if after.steps > b.max_steps:
            return StopReason.STEPS_EXHAUSTED
        if self.spent.seconds >= b.timeout:
            return StopReason.TIMEOUT
        if after.tokens > b.max_tokens:
            return StopReason.TOKEN_EXHAUSTED
        if after.usd > b.max_cost_usd:
            return StopReason.COST_TRIPPED
        return None
