"""Stopping a run from outside: a message in the store, heard by the process that works on the run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from referee.domain.errors import UsageError, WorldFault
from referee.ports import Clock, Lease, RunRecord, Signal, Store

TOPIC = "stop"
_PAUSE = 0.4  # seconds between two looks


def ask_to_stop(store: Store, record: RunRecord, clock: Clock) -> None:
    """Ask whoever works on the run to stop; that is as safe as Ctrl-C there. Raises `UsageError` if nobody does."""
    if record.status != "running":
        raise UsageError(f"run {record.run_id} is not running; there is nothing to stop")
    at = datetime.fromtimestamp(clock.now(), UTC).isoformat(timespec="milliseconds")
    store.leave(record.run_id, TOPIC, Signal(name=str(record.fence), payload="{}", at=at))


def asked_to_stop(store: Store, record: RunRecord) -> bool:
    """Whether the run, as it is worked on now, was asked to stop."""
    return _asked(store, record.run_id, record.fence)


def _asked(store: Store, run_id: str, fence: int) -> bool:
    return any(signal.name == str(fence) for signal in store.left(run_id, TOPIC))


@contextmanager
def stoppable(store: Store, lease: Lease) -> Iterator[threading.Event]:
    """While this is open, a stop that was asked for sets the event, at which the gate begins nothing more.

    Where Ctrl-C is dealt with, what goes on right now is cut off as well, as by Ctrl-C.
    """
    stop, over = threading.Event(), threading.Event()
    working = threading.current_thread()

    def listen() -> None:
        while not over.wait(_PAUSE):
            try:
                asked = _asked(store, lease.run_id, lease.fence)
            except WorldFault:
                return  # the thread that works will meet it too, and can act on it
            if asked:
                stop.set()
                _interrupt(working)
                return

    listener = threading.Thread(target=listen, name="stop", daemon=True)
    listener.start()
    try:
        yield stop
    finally:
        over.set()
        listener.join()


def _interrupt(working: threading.Thread) -> None:
    """A real signal, for only that ends a wait in the kernel; never one that nobody handles."""
    if working is threading.main_thread() and callable(signal.getsignal(signal.SIGTERM)) and working.ident:
        signal.pthread_kill(working.ident, signal.SIGTERM)
