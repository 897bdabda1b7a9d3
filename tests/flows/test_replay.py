"""A replay does nothing and comes to the same decisions; a record that was rewritten to say something else shows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.kernel.journal import GENESIS, chained
from referee.ports import Entry

ANSWERS = [
    small.content(small.BUGGY.replace("a - b", "a * b")),
    small.proposal(edits=[{"old": "a * b", "new": "a + b"}]),
]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """A repair in two steps."""
    folder = tmp_path_factory.mktemp("replay")
    repo = small.build(folder / "repo")
    flags = {"generator": "model", "models.default": small.script(folder / "m.jsonl", *ANSWERS)}
    config = load(str(repo), flags=flags, variables={}, user_file=str(folder / "none"))
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    assert outcome.solved and outcome.report.steps == 2
    (folder / "m.jsonl").unlink()  # a replay asks no model
    return repo, outcome


def rewrite(repo: Path, run_id: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Write another chain, whole in itself: `change` says what becomes of each entry, None drops it."""
    with closing(sqlite3.connect(repo / ".harness/state.db", isolation_level=None)) as database:
        for trigger in ("entry_is_append_only", "entry_stays"):
            database.execute(f"drop trigger {trigger}")
        fields = ("n", "at", "key", "kind", "action", "payload", "prev", "digest")
        query = f"select {', '.join(fields)} from entry where run_id = ? order by n"
        rows = [dict(zip(fields, row, strict=True)) for row in database.execute(query, (run_id,))]
        database.execute("delete from entry where run_id = ?", (run_id,))
        prev = GENESIS
        kept = [changed for row in rows if (changed := change(row)) is not None]
        for n, row in enumerate(kept, start=1):
            entry = Entry(**{**row, "n": n, "prev": prev})
            prev = chained(entry)
            values = entry.model_copy(update={"digest": prev}).model_dump(mode="json")
            database.execute(
                f"insert into entry values (?, {', '.join('?' * 8)})", (run_id, *(values[f] for f in fields))
            )


def test_a_replay_does_nothing_and_decides_the_same(solved: tuple[Path, Outcome]) -> None:
    repo, outcome = solved
    before = small.state(repo), (repo / ".harness/journal.jsonl").read_bytes()
    report = api.replay(outcome.report.run_id, str(repo))
    assert (report.same, report.decisions, report.first_difference) == (True, 2, None)
    assert (small.state(repo), (repo / ".harness/journal.jsonl").read_bytes()) == before


def test_a_run_that_the_budget_ended_inside_the_gate_ends_so_again(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    model = small.script(tmp_path / "m.jsonl", *ANSWERS)
    flags = {"generator": "model", "models.default": model, "budget.max_tokens": 100}
    config = load(str(repo), flags=flags, variables={}, user_file=str(tmp_path / "none"))
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    assert outcome.stop_reason is StopReason.TOKEN_EXHAUSTED
    report = api.replay(outcome.report.run_id, str(repo))
    assert (report.same, report.first_difference) == (True, None)


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any] | None], str]] = {
    "another decision": (
        lambda e: {**e, "payload": e["payload"].replace('"land"', '"hold"')} if e["kind"] == "decided" else e,
        "replay decided",
    ),
    "a decision less": (
        lambda e: None if e["kind"] == "decided" and '"land"' in e["payload"] else e,
        "no such decision",
    ),
    "another request": (
        lambda e: (
            {**e, "payload": e["payload"].replace(json.loads(e["payload"])["action_digest"], "0" * 64)}
            if e["kind"] == "requested" and e["action"] == "call_model"
            else e
        ),
        "took another path",
    ),
    "an end cut off": (lambda e: None if e["action"] == "land" else e, "its journal ends before"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_record_that_was_rewritten_says_where_it_differs(
    solved: tuple[Path, Outcome], change: str, tmp_path: Path
) -> None:
    repo, outcome = solved
    run_id, state = outcome.report.run_id, repo / ".harness/state.db"
    kept = {path: path.read_bytes() for path in repo.glob(".harness/state.db*")}
    try:
        rewrite(repo, run_id, CHANGES[change][0])
        assert api.verify(run_id, str(repo)).ok, "another chain as a whole is whole"
        report = api.replay(run_id, str(repo))
        assert not report.same and CHANGES[change][1] in str(report.first_difference)
    finally:
        for path in repo.glob(".harness/state.db*"):
            path.unlink()
        for path, data in kept.items():
            path.write_bytes(data)
    assert state.exists()


def test_a_changed_byte_is_found_before_anything_is_replayed(solved: tuple[Path, Outcome]) -> None:
    repo, outcome = solved
    run_id = outcome.report.run_id
    kept = {path: path.read_bytes() for path in repo.glob(".harness/state.db*")}
    try:
        with closing(sqlite3.connect(repo / ".harness/state.db", isolation_level=None)) as database:
            database.execute("drop trigger entry_is_append_only")
            for n, (column, value) in enumerate(
                [("kind", "ended!"), ("payload", b"\xff"), ("at", ""), ("digest", "0")], start=3
            ):
                (before,) = database.execute(
                    f"select {column} from entry where run_id = ? and n = ?", (run_id, n)
                ).fetchone()
                update = f"update entry set {column} = cast(? as text) where run_id = ? and n = ?"
                database.execute(update, (value, run_id, n))
                found = api.verify(run_id, str(repo))
                assert (found.ok, found.first_bad) == (False, n), column
                database.execute(update, (before, run_id, n))
            assert api.verify(run_id, str(repo)).ok
            database.execute("update entry set at = '' where run_id = ? and n = 5", (run_id,))
        report = api.replay(run_id, str(repo))
        assert report.first_difference == "entry 5 of the journal is not as it was written"
    finally:
        for path in repo.glob(".harness/state.db*"):
            path.unlink()
        for path, data in kept.items():
            path.write_bytes(data)
