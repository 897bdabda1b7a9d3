"""A worker of the engine: it drives what the queue gives it, and takes over what dead workers had."""

from __future__ import annotations

import time
from collections.abc import Callable

from referee.adapters.clock import SystemClock
from referee.adapters.engine.children import Children, Do
from referee.adapters.engine.engine import Engine, unique
from referee.adapters.engine.line import Line
from referee.adapters.engine.roll import BEAT, TTL, Roll
from referee.adapters.engine.work import Said, Work
from referee.adapters.store.postgres import PostgresStore
from referee.api.database import address
from referee.domain.errors import WorldFault

MOST_TRIES = 3  # of what the machine fails
_LOOK = 0.25  # seconds between two looks at what people and other workers want
_AGAIN = 1.0  # seconds until what others hold is tried again
Tell = Callable[[str], None]


class Worker:
    """One worker with so many slots. `do` carries one piece of work forward, in a process of its own."""

    def __init__(self, name: str, slots: int, do: Do, tell: Tell) -> None:
        """Raises `UsageError` without a database or the engine, and `WorldFault` if they cannot be used."""
        self._name, self._slots, self._tell = unique(name), slots, tell
        self._clock = SystemClock()
        self._children = Children(do)
        PostgresStore(address()).close()  # whether its tables are there is said before anything begins
        self._line, self._roll = Line(address()), Roll(address())
        self._engine = Engine(address(), self._name, self._segment)
        self._closing = False
        self._beaten = self._clock.monotonic()

    def work(self, *, until_idle: bool = False) -> None:
        """Work until stopped, or until nothing is queued or worked on by anybody."""
        self._roll.enter(self._name)
        try:
            self._engine.start(self._slots)
            self._tell(f"worker {self._name} takes up to {self._slots} runs at a time")
            while not (until_idle and self._line.idle()):
                self._look()
                self._clock.sleep(_LOOK)
        finally:
            self._close()

    def _look(self) -> None:
        """Say that this worker lives, end what people want ended, and see to what dead workers had."""
        now = self._clock.monotonic()
        try:
            if now - self._beaten >= BEAT:
                self._roll.beat(self._name)
                self._beaten = now
            for run in self._roll.asked_to_stop(self._children.at_work):
                self._children.stop(run)
            with self._roll.dead() as gone:
                for worker in gone:
                    pieces = self._line.held_by(worker)
                    self._tell(f"worker {worker} is gone; its {len(pieces)} runs go on here or elsewhere")
                    if pieces:
                        self._line.resume(pieces)
        except WorldFault:
            if now - self._beaten > TTL:  # by now others think that this one is dead
                self._children.kill()
                raise

    def _segment(self, piece: str, text: str) -> str:
        """Do one piece on a thread of the engine's; what has not come to its end is queued again."""
        work = Work.model_validate_json(text)
        said = self._children.run(work)
        if self._closing and said.how in ("stopped", "fault"):
            said = Said(how="busy", words="its worker was told to leave")
        if said.how == "busy":
            self._again(piece, work, _AGAIN)
        elif said.how == "fault" and work.tries + 1 < MOST_TRIES:
            self._again(piece, work.model_copy(update={"tries": work.tries + 1}), _AGAIN * 2**work.tries)
        self._tell(f"{work.what}: {said.how}{': ' if said.words else ''}{said.words}")
        return said.model_dump_json()

    def _again(self, piece: str, work: Work, delay: float) -> None:
        number = int(piece.rpartition(".")[2]) + 1
        self._line.put_as(f"{work.what}.{number}", work, delay)

    def _close(self) -> None:
        """Leave properly: what is at work is cut off and queued again, for another worker to go on with."""
        self._closing = True
        began = time.monotonic()
        self._children.kill()
        self._engine.close(5)
        self._line.close()
        self._roll.leave(self._name)
        self._roll.close()
        self._tell(f"worker {self._name} left after {time.monotonic() - began:.1f} s")
