"""Runs that only count their steps: what a queue may not lose, repeat or delay shows without a sandbox."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from referee.adapters.clock import SystemClock
from referee.adapters.engine.line import Line
from referee.adapters.engine.work import Said, Work
from referee.adapters.store.owner import me
from referee.adapters.store.postgres import PostgresStore
from referee.domain.cost import Budget
from referee.domain.errors import Busy, WorldFault
from referee.kernel.action import Action, Effect
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import World
from referee.testing.world import FakeEquipment

LEASE = 8.0
Start = Callable[..., subprocess.Popen[bytes]]


class Tick(Action[int]):
    """Writes its name down, and waits as for a model."""

    name: ClassVar[str] = "tick"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = int
    run: str
    number: int
    seconds: float
    log: str

    def perform(self, world: World) -> int:
        noted(self.log, f"{self.run} {self.number}")
        time.sleep(self.seconds)
        return self.number


def noted(log: str, text: str) -> None:
    fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, f"{text}\n".encode())
    os.close(fd)


def fill(address: str, log: str, names: list[str], *, steps: int = 15, seconds: float = 0.02, kind: str = "") -> None:
    """Queue runs of so many steps."""
    store, line = PostgresStore(address, "/loads"), Line(address)
    for place, name in enumerate(names):
        store.create(name, json.dumps({"steps": steps, "seconds": seconds, "kind": kind}), f"{place:06}")
        line.put(Work(what=name, place="/loads", more=log))
    line.close()
    store.close()


def do(work: Work) -> Said:
    """Carry one forward from its journal, as a worker's child."""
    store = PostgresStore(os.environ["REFEREE_DATABASE"])
    try:
        record = store.run(work.what)
        assert record is not None
        if record.status == "done":
            return Said(how="done", words="it had ended already")
        asked = json.loads(record.spec)
        lease = store.claim(work.what, me(), time.time(), LEASE)
        journal = Journal(store, lease, SystemClock(), LEASE)
        with journal.kept():
            world = FakeEquipment(None, None, clock=SystemClock())
            run = Run(Shared(run_id=work.what, world=world, journal=journal, store=store), Budget(timeout=100_000))
            for number in range(asked["steps"]):
                run.perform(Tick(run=work.what, number=number, seconds=asked["seconds"], log=work.more))
        noted(work.more, f"{work.what} end")
        store.finish(lease, "done", "{}")
        return Said(how="done")
    except Busy as other:
        return Said(how="busy", words=str(other))
    except WorldFault as fault:
        return Said(how="fault", words=str(fault))
    finally:
        store.close()


def stubborn(work: Work) -> Said:
    """Work that does not listen, with a process of its own that does not either."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    store = PostgresStore(os.environ["REFEREE_DATABASE"])
    store.claim(work.what, me(), time.time(), 1e6)
    child = subprocess.Popen(["sleep", "1000"])
    noted(work.more, f"{os.getpid()} {child.pid}")
    child.wait()
    return Said(how="done")


def serve(name: str, slots: int, kind: str = "do", *, until_idle: bool = True) -> None:
    """A worker, by default until nothing is left to do."""
    import engine_loads

    from referee.api.working import Worker
    from referee.cli.signals import cancellable

    with cancellable():
        Worker(name, slots, getattr(engine_loads, kind), lambda text: print(text, flush=True)).work(
            until_idle=until_idle
        )


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def until(condition: Callable[[], bool], worker: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert worker.poll() is None, "the worker left before it came to that"
        time.sleep(0.02)
