"""A worker's side of the engine: it takes work out of the queue and gives it to a function."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from referee.adapters.engine.work import APPLICATION, PROTOCOL, QUEUE, WORKFLOW, library
from referee.adapters.postgres import words
from referee.domain.errors import WorldFault

_POLL = 0.25  # seconds between two looks into the queue
Segment = Callable[[str, str], str]


def unique(name: str) -> str:
    """A name for one life of a worker: under one that lived before, the engine would run that one's work twice."""
    return f"{name}-{secrets.token_hex(4)}"


class Engine:
    """Takes at most `slots` pieces at a time; each is `segment(piece, work)` on a thread of its own."""

    def __init__(self, address: str, worker: str, segment: Segment) -> None:
        self._dbos = library().DBOS
        serializer = library().DBOSPortableJSONSerializer()
        config = {
            "name": APPLICATION,
            "system_database_url": address,
            "application_version": PROTOCOL,
            "executor_id": worker,
            "serializer": serializer,  # the default one would run what it reads
            "sys_db_pool_size": 4,
            "run_migrations": False,
            "log_level": "ERROR",
        }
        self._dbos(config=config)

        def work(text: str) -> str:
            return segment(self._dbos.workflow_id, text)

        self._dbos.workflow(name=WORKFLOW)(work)

    def start(self, slots: int) -> None:
        """Begin to take work. The engine keeps one number of slots for all workers: the last one given counts."""
        try:
            self._dbos.launch()
            self._dbos.register_queue(
                QUEUE, worker_concurrency=slots, polling_interval_sec=_POLL, on_conflict="always_update"
            )
        except Exception as fault:  # whatever its driver raises, the operator must see to the database
            raise WorldFault(f"the queue could not be used: {words(fault)}; was `referee db migrate` run?") from fault

    def close(self, seconds: int) -> None:
        """Take nothing more; what is at work has so many seconds to end."""
        self._dbos.destroy(workflow_completion_timeout_sec=seconds)
