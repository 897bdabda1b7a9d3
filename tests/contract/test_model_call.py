"""Asking a model through the gate: nothing unpriced, nothing that the budget could not bear at worst."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.actions.call_model import CallModel, input_tokens
from referee.domain.cost import Budget, Cost
from referee.domain.errors import Exhausted, UsageError
from referee.domain.reason import StopReason
from referee.kernel.action import Effect
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Message, ModelReply, ModelRequest, Price, Usage
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

PRICE = Price(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"), source="t")
REQUEST = ModelRequest(
    role="generator", system="s" * 300, messages=(Message(role="user", content="u" * 600),), max_tokens=1000
)


class Answering:
    """A model that says how long it was allowed to think."""

    name = "t:one"

    def __init__(self, price: Price | None, usage: Usage, clock: FakeClock | None = None, seconds: float = 0) -> None:
        self._price, self._usage, self._clock, self._seconds = price, usage, clock, seconds
        self.calls: list[ModelRequest] = []

    def price(self) -> Price | None:
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        self.calls.append(request)
        if self._clock is not None:
            self._clock.advance(self._seconds)
        return ModelReply(content="{}", usage=self._usage)


class Place:
    """One store and one clock, on which runs of the same id can be begun again."""

    def __init__(self, model: Answering, clock: FakeClock | None = None) -> None:
        self.clock, self.store, self.model = clock or FakeClock(), MemoryStore(), model
        self.store.create("r", "{}", "now")

    def run(self, **budget: object) -> Run:
        sandbox = FakeSandbox(lambda command: ended(0))
        equipment = FakeEquipment(FakeWorkspace({}), sandbox, {"t:one": self.model}, self.clock)
        lease = self.store.claim("r", "me", self.clock.now(), 30.0)
        shared = Shared(run_id="r", world=equipment, journal=Journal(self.store, lease, self.clock), store=self.store)
        return Run(shared, Budget.model_validate(budget))


def test_the_cost_is_charged_and_recorded() -> None:
    place = Place(Answering(PRICE, Usage(fresh_input=1000, cache_read=2000, cache_write=400, output=100)))
    run = place.run()
    reply = run.perform(CallModel(model="t:one", request=REQUEST))
    assert reply.cost_usd == Decimal("0.0066")
    assert run.view.spent.usd == Decimal("0.0066")
    assert run.view.spent.tokens == 3500


def test_a_recorded_reply_is_not_paid_twice() -> None:
    """Case C10: after a resume the spending is what it was."""
    place = Place(Answering(PRICE, Usage(fresh_input=10, output=10)))
    first = place.run()
    first.perform(CallModel(model="t:one", request=REQUEST))
    place.clock.advance(60)  # the first process is gone and its lease with it
    again = place.run()
    again.perform(CallModel(model="t:one", request=REQUEST))
    assert len(place.model.calls) == 1
    assert again.view.spent.usd == first.view.spent.usd


def test_an_unknown_price_is_refused_before_anything_is_sent() -> None:
    """Case C6."""
    place = Place(Answering(None, Usage()))
    with pytest.raises(UsageError, match="--price INPUT,OUTPUT"):
        place.run().perform(CallModel(model="t:one", request=REQUEST))
    assert place.model.calls == []


@pytest.mark.parametrize(
    ("budget", "reason"),
    [({"max_cost_usd": "0.016"}, StopReason.COST_TRIPPED), ({"max_tokens": 1300}, StopReason.TOKEN_EXHAUSTED)],
)
def test_what_cannot_be_borne_at_worst_is_not_begun(budget: dict[str, object], reason: StopReason) -> None:
    """Case C1."""
    place = Place(Answering(PRICE, Usage()))
    with pytest.raises(Exhausted) as raised:
        place.run(**budget).perform(CallModel(model="t:one", request=REQUEST))
    assert raised.value.reason is reason
    assert place.model.calls == []


def test_a_call_never_outlives_the_run() -> None:
    clock = FakeClock()
    place = Place(Answering(PRICE, Usage(), clock, seconds=90.0), clock)
    run = place.run(timeout=100)
    run.perform(CallModel(model="t:one", request=REQUEST))
    run.perform(CallModel(model="t:one", request=REQUEST))
    assert [c.timeout_seconds for c in place.model.calls] == [100.0, 10.0]


def test_the_action_says_what_it_is() -> None:
    action = CallModel(model="t:one", request=REQUEST)
    assert (action.name, action.effect) == ("call_model", Effect.SPEND)
    assert action.cost(ModelReply(content="")) == Cost()
    assert input_tokens(REQUEST) == 300 + 2 * 64


TOKENS = st.integers(0, 10**7)
RATE = st.decimals(0, 1000, places=4)


@given(st.tuples(TOKENS, TOKENS, TOKENS, TOKENS), RATE, RATE, st.floats(0, 1), RATE)
def test_cost_never_exceeds_all_fresh_plus_the_cache_premium(
    tokens: tuple[int, int, int, int], fresh: Decimal, out: Decimal, share: float, premium: Decimal
) -> None:
    """Case C3."""
    price = Price(
        input=fresh, output=out, cache_read=fresh * Decimal(str(share)), cache_write=fresh + premium, source="t"
    )
    usage = Usage(fresh_input=tokens[0], cache_read=tokens[1], cache_write=tokens[2], output=tokens[3])
    all_fresh = fresh * (tokens[0] + tokens[1] + tokens[2]) + out * tokens[3]
    assert price.of(usage) <= (all_fresh + premium * tokens[2]) / 1_000_000
    assert usage.total == sum(tokens)
