"""The queue as seen by whoever puts work into it, looks at it, or takes work out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from referee.adapters.engine.work import APPLICATION, PROTOCOL, QUEUE, WORKFLOW, Said, Standing, Work, library
from referee.adapters.postgres import words
from referee.domain.errors import WorldFault

_OPEN = ("ENQUEUED", "DELAYED", "PENDING")


def migrate(address: str) -> None:
    """Make the engine's own tables in the database, or bring them up to date."""
    with _guarded():
        library().run_dbos_database_migrations(system_database_url=address)


class Line:
    """The queue in the database at `address`. Raises `WorldFault` if the database refuses."""

    def __init__(self, address: str) -> None:
        dbos = library()
        with _guarded():
            self._client = dbos.DBOSClient(
                system_database_url=address,
                serializer=dbos.DBOSPortableJSONSerializer(),
                system_database_pool_size=2,
                application_name=APPLICATION,
                retry_connection_errors=False,
            )

    def put(self, work: Work, delay: float = 0.0) -> str:
        """Queue the next piece of `work.what`, unless one waits or is worked on already; the id of that piece."""
        before = self.standing(work.what)
        for piece in before:
            if piece.open:
                return piece.id
        return self.put_as(f"{work.what}.{len(before) + 1}", work, delay)

    def put_as(self, piece: str, work: Work, delay: float = 0.0) -> str:
        """Queue it under that id; a second time changes nothing."""
        options = {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": piece,
            "app_version": PROTOCOL,
            "priority": work.priority,
            "serialization_type": library().WorkflowSerializationFormat.PORTABLE,
        } | ({"delay_seconds": delay} if delay else {})
        with _guarded():
            self._client.enqueue(options, work.model_dump_json())
        return piece

    def standing(self, what: str) -> tuple[Standing, ...]:
        """All pieces there ever were of `what`, oldest first."""
        with _guarded():
            found = self._client.list_workflows(workflow_id_prefix=f"{what}.", load_input=False)
        return tuple(
            Standing(
                id=w.workflow_id,
                open=w.status in _OPEN,
                working=w.status == "PENDING",
                said=Said.model_validate_json(w.output) if w.status == "SUCCESS" and w.output else None,
            )
            for w in found
        )

    def drop(self, what: str) -> bool:
        """Take out what nobody works on yet; whether there was something."""
        waiting = [p.id for p in self.standing(what) if p.open and not p.working]
        with _guarded():
            if waiting:
                self._client.cancel_workflows(waiting)
        return bool(waiting)

    def idle(self) -> bool:
        """Whether nothing is queued or worked on."""
        with _guarded():
            return not self._client.list_workflows(status=list(_OPEN), limit=1, load_input=False, load_output=False)

    def resume(self, pieces: Sequence[str]) -> None:
        """Queue again what a worker had that is gone."""
        with _guarded():
            self._client.resume_workflows(list(pieces), queue_name=QUEUE)

    def held_by(self, worker: str) -> tuple[str, ...]:
        """What a worker has taken out of the queue and not ended."""
        with _guarded():
            found = self._client.list_workflows(
                status="PENDING", executor_id=worker, load_input=False, load_output=False
            )
        return tuple(w.workflow_id for w in found)

    def close(self) -> None:
        """Close the connections."""
        self._client.destroy()


@contextmanager
def _guarded() -> Iterator[None]:
    """The engine's faults in our words."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, library().error.DBOSException) as fault:
        text = words(fault).partition(" (Background on")[0]
        raise WorldFault(f"the queue in PostgreSQL could not be used: {text}; was `referee db migrate` run?") from fault
