"""A journal moves into a database whole or not at all, and says the same there."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest
import small

from referee import api
from referee.adapters.clock import SystemClock
from referee.adapters.store import SqliteStore
from referee.adapters.store.postgres import PostgresStore
from referee.api.spec import Spec
from referee.config import Config
from referee.domain.errors import UsageError
from referee.domain.task import Task
from referee.kernel.journal import Journal
from referee.ports import Kind, Signal

RUN = "20260101-000000-aaaa"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose own journal holds one run that was cut off, with an answer left for it and a blob."""
    root = small.build(tmp_path / "repo")
    store = SqliteStore(str(root / ".harness"))
    spec = Spec(task=Task(repo=str(root), text="mend it"), config=Config())
    store.create(RUN, spec.model_dump_json(), "2026-01-01T00:00:00")
    lease = store.claim(RUN, "process 1 on nowhere", 0, 0)
    journal = Journal(store, lease, SystemClock())
    for n in range(3):
        journal.note(f"note:{n}", Kind.NOTED, {"text": "ü" * 20_000})
    store.leave(RUN, "answer", Signal(name="q/1", payload="{}", at="t"))
    store.put(b"a long result")
    store.release(lease)
    store.close()
    return root


def test_a_copied_journal_says_the_same(repo: Path, journals: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = api.journal(RUN, str(repo))
    monkeypatch.setenv("REFEREE_DATABASE", journals)
    assert api.runs(str(repo)) == ()
    assert api.copy_journal(str(repo)).copied == (RUN,)
    assert api.copy_journal(str(repo)).there == (RUN,)
    assert api.journal(RUN, str(repo)) == before
    assert [(r.run_id, r.status, r.task) for r in api.runs(str(repo))] == [(RUN, "stopped", "mend it")]
    assert api.verify(None, str(repo)).ok
    store = PostgresStore(journals)
    assert [s.name for s in store.left(RUN, "answer")] == ["q/1"]
    assert store.get(hashlib.sha256(b"a long result").hexdigest()) == b"a long result"
    store.close()


def test_a_journal_that_was_edited_is_not_copied(repo: Path, journals: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(repo / ".harness/state.db") as db:
        db.execute("drop trigger entry_is_append_only")
        db.execute("update entry set payload = '{}' where n = 2")
    db.close()
    monkeypatch.setenv("REFEREE_DATABASE", journals)
    with pytest.raises(UsageError, match=r"entry 2 .* is not as it was written"):
        api.copy_journal(str(repo))
    assert api.runs(str(repo)) == ()


def test_another_run_of_the_same_name_is_not_taken_for_this_one(
    repo: Path, journals: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(journals, "/elsewhere")
    store.create(RUN, "{}", "t")
    store.close()
    monkeypatch.setenv("REFEREE_DATABASE", journals)
    with pytest.raises(UsageError, match=f"another run {RUN}, of /elsewhere"):
        api.copy_journal(str(repo))


def test_without_an_address_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFEREE_DATABASE", raising=False)
    with pytest.raises(UsageError, match="REFEREE_DATABASE is not set"):
        api.migrate()
