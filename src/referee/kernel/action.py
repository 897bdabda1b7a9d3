"""A request to touch the world, as frozen data: it can be ruled on, paid for, journaled and recalled."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from referee.domain.canonical import digest_of
from referee.domain.cost import BudgetView, Cost
from referee.domain.value import Value
from referee.ports import World

T = TypeVar("T")


class Effect(StrEnum):
    """How far an action reaches. Only `LAND` and `OUTSIDE` can be seen by anybody after the run."""

    READ = "read"
    SCRATCH = "scratch"  # changes only what dies with the run
    WRITE = "write"  # keeps a tree or a fact in the private store
    SPEND = "spend"  # costs money or tokens
    LAND = "land"  # changes the user's files
    OUTSIDE = "outside"  # reaches another system

    @property
    def irrevocable(self) -> bool:
        """Whether something is spent or seen once it has begun: the intention must be on the disk before."""
        return self in (Effect.SPEND, Effect.LAND, Effect.OUTSIDE)

    @property
    def costly(self) -> bool:
        """Whether it is worth a wait for the disk not to have to do it again."""
        return self.irrevocable or self is Effect.SCRATCH


class Action(Value, Generic[T]):
    """Base of every action. `name` is stable because it is journaled; `result_type` says how to read a result back."""

    name: ClassVar[str]
    effect: ClassVar[Effect]
    result_type: ClassVar[Any]
    volatile: ClassVar[bool] = False  # its result points at something a crash may lose: do it again on resume
    instant: ClassVar[bool] = False  # reaches nothing outside this process, so it needs no lease kept

    @abstractmethod
    def perform(self, world: World) -> T:
        """Do it. Raises `WorldFault` for what the operator must mend and `Rejected` for what the author must."""

    def estimate(self, world: World) -> Cost:
        """The most this may cost; refused when the budget cannot bear it."""
        return Cost()

    def cost(self, result: T) -> Cost:
        """What it did cost, apart from wall-clock time, which the gate measures."""
        return Cost()

    def recover(self, world: World) -> T | None:
        """The result of an earlier try that was cut off, if it took effect; only LAND and OUTSIDE ask."""
        return None

    def stale(self, result: T, view: BudgetView) -> bool:
        """Whether a recorded result must not be recalled because the run was given another budget."""
        return False

    @property
    def durable(self) -> bool:
        """Whether its ending waits for the disk: only where a resumed run can recall what it saves."""
        return self.effect.costly and not self.volatile

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the journal says of the request in clear, beside its digest."""
        return {}

    @property
    def digest(self) -> str:
        """SHA-256 of the name and the canonical form of the data, in hex."""
        return request_digest(self.name, self.model_dump(mode="json"))


def request_digest(name: str, data: Any) -> str:
    """SHA-256 of an action's name and the canonical form of what it asks for, in hex."""
    return digest_of({"action": name, "data": data})
