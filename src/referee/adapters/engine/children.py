"""One process for each piece of work, so that it can be killed with all that it started."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess

from referee.adapters.engine.work import Said, Work

GRACE = 1.0  # seconds to end properly after a person's stop; bars demand two for all of it
Do = Callable[[Work], Said]


class Children:
    """Processes forked from a clean one that has everything loaded: a fresh interpreter would cost half a second each.

    `do` is a function of a module, which that process loads once. A child dies with this process.
    """

    def __init__(self, do: Do) -> None:
        self._do = do
        self._context: ForkServerContext = get_context("forkserver")
        self._context.set_forkserver_preload([do.__module__])
        self._running: dict[ForkServerProcess, str] = {}
        self._stopped: dict[str, float] = {}
        self._lock = threading.Lock()

    def run(self, work: Work) -> Said:
        """Let a child do it and wait for that; one that dies without a word is a fault of the machine."""
        ours, theirs = self._context.Pipe(duplex=False)
        child = self._context.Process(target=_work, args=(self._do, work, theirs), name=work.what)
        with self._lock:
            child.start()
            self._running[child] = work.what
        theirs.close()
        try:
            text = _heard(ours, child)
        finally:
            child.join()
            with self._lock:
                del self._running[child]
                stopped = self._stopped.pop(work.what, None)
        if text:
            return Said.model_validate_json(text)
        if stopped is not None:
            return Said(how="stopped", words="killed after a person's stop")
        return Said(how="fault", words=f"the process that worked on it died ({child.exitcode})")

    @property
    def at_work(self) -> list[str]:
        """What is worked on now."""
        with self._lock:
            return list(self._running.values())

    def stop(self, what: str) -> None:
        """End a child properly; called again when its grace is over, its whole group is killed."""
        with self._lock:
            children = [child for child, done in self._running.items() if done == what and child.pid]
            first = children and what not in self._stopped
            began = self._stopped.setdefault(what, time.monotonic()) if children else 0.0
        for child in children:
            if first:
                _tell(child, signal.SIGTERM, group=False)
            elif time.monotonic() - began > GRACE:
                _tell(child, signal.SIGKILL, group=True)

    def kill(self) -> None:
        """End all of them at once."""
        with self._lock:
            children = list(self._running)
        for child in children:
            _tell(child, signal.SIGKILL, group=True)


def _tell(child: ForkServerProcess, number: signal.Signals, *, group: bool) -> None:
    pid = child.pid
    if pid:
        with suppress(ProcessLookupError):
            os.killpg(pid, number) if group else os.kill(pid, number)


def _heard(ours: Connection, child: ForkServerProcess) -> str:
    with ours:
        wait([ours, child.sentinel])
        if not ours.poll():
            return ""
        try:
            return str(ours.recv())
        except EOFError:
            return ""


def _work(do: Do, work: Work, theirs: Connection) -> None:
    os.setsid()  # a group of its own, which is killed as one
    threading.Thread(target=_die_with_the_worker, name="worker", daemon=True).start()
    theirs.send(do(work).model_dump_json())


def _die_with_the_worker() -> None:
    worker = parent_process()
    if worker is not None:
        wait([worker.sentinel])
    os.killpg(0, signal.SIGKILL)
