"""Several candidates at once, each on a branch and a thread of its own: the first to pass wins (J4)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from referee.actions.step import Elect, Raced
from referee.domain.brief import Offer
from referee.domain.errors import Exhausted, Withdrawn
from referee.flows.attempt import Attempt
from referee.kernel.run import Run

Contest = Callable[[Run], "Tried"]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """An offer and what became of it."""

    offer: Offer
    attempt: Attempt


def race(run: Run, name: str, contests: Sequence[Contest]) -> tuple[Tried, ...]:
    """What was tried to its end, in the order of `contests`, a winner last.

    The others are withdrawn: nothing of theirs is begun any more, and what they used is charged. Raises `Exhausted` if
    the budget lets none come to its end, and what any of them raises that is not its own fault.
    """
    lanes = [run.branch(f"{name}.{n}") for n in range(1, len(contests) + 1)]
    if run.recalls(Elect()):
        return _again(run.perform(Elect()), lanes, contests)
    runners = _Runners(lanes, contests)
    try:
        raced = runners.run()
    finally:
        runners.withdraw()
    run.perform(Elect(raced=raced))
    return _in_order(raced, runners.tried)


def _again(raced: Raced, lanes: Sequence[Run], contests: Sequence[Contest]) -> tuple[Tried, ...]:
    """The same from the journal, one after the other; who was withdrawn is charged what is recorded."""
    tried: dict[int, Tried] = {}
    for n, (lane, contest) in enumerate(zip(lanes, contests, strict=True), start=1):
        if n not in raced.finished:
            lane.withdraw()
        try:
            tried[n] = contest(lane)
        except (Withdrawn, Exhausted):
            continue  # it had not come to its end
    return _in_order(raced, tried)


def _in_order(raced: Raced, tried: dict[int, Tried]) -> tuple[Tried, ...]:
    order = [n for n in raced.finished if n != raced.winner]
    return tuple(tried[n] for n in (*order, *([raced.winner] if raced.winner else [])))


@dataclass
class _Runners:
    lanes: Sequence[Run]
    contests: Sequence[Contest]
    tried: dict[int, Tried] = field(default_factory=dict)

    def run(self) -> Raced:
        """Start them all and wait for the first that passes, or for the last to end."""
        ended: queue.SimpleQueue[tuple[int, Tried | BaseException]] = queue.SimpleQueue()

        def one(n: int) -> None:
            try:
                ended.put((n, self.contests[n - 1](self.lanes[n - 1])))
            except BaseException as e:  # handed to the thread that waits, which decides what it means
                ended.put((n, e))

        for n in range(1, len(self.lanes) + 1):
            # A thread that is left behind must not keep the program from ending.
            threading.Thread(target=one, args=(n,), name=f"candidate {n}", daemon=True).start()
        spent: list[Exhausted] = []
        for _ in self.lanes:
            n, how = ended.get()
            if isinstance(how, Exhausted):
                spent.append(how)
            elif isinstance(how, BaseException):
                raise how
            else:
                self.tried[n] = how
                if how.attempt.verdict.passed:
                    return Raced(finished=tuple(sorted(self.tried)), winner=n)
        if not self.tried:
            raise spent[0]
        return Raced(finished=tuple(sorted(self.tried)))

    def withdraw(self) -> None:
        """Call back all that have not come to their end."""
        for n, lane in enumerate(self.lanes, start=1):
            if n not in self.tried:
                lane.withdraw()
