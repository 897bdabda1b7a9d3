"""Work shared between processes, so that one that dies costs only time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TypeVar

from referee.domain.errors import WorldFault

MOST_DEATHS = 5  # of workers, without one piece of work done between them
T = TypeVar("T")


def shared(work: Callable[[T], str], items: Sequence[T], jobs: int, tell: Callable[[str], None]) -> Iterator[str]:
    """What `work` says of each item, in any order, `jobs` items at a time; with one job, in this process.

    Work must be such that doing it again goes on where it was cut off: that is done when a worker dies. Raises
    `WorldFault` if they die and nothing is done.
    """
    if jobs == 1 or len(items) < 2:
        yield from map(work, items)
        return
    waiting, deaths = dict(enumerate(items)), 0
    while waiting:
        try:
            for index, said in _once(work, waiting, jobs):
                del waiting[index]
                deaths = 0
                yield said
        except BrokenProcessPool:
            deaths += 1
            tell("a worker died; its trials go on where their journals end")
            if deaths == MOST_DEATHS:
                raise WorldFault(f"{deaths} workers died and nothing was done; is there memory enough?") from None


def _once(work: Callable[[T], str], items: dict[int, T], jobs: int) -> Iterator[tuple[int, str]]:
    # Fresh interpreters: a fork would share the locks of threads that are not there.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _leave_signals_to_the_first) as pool:
        waiting: dict[Future[str], int] = {pool.submit(work, item): index for index, item in items.items()}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        except BaseException:
            # Whoever stops the whole need not wait: what is cut off goes on later.
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():
                worker.terminate()
            raise


def _leave_signals_to_the_first() -> None:
    """Ctrl-C in a terminal reaches every process; the one that was started decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
