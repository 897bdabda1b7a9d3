"""Runs written into a record as a process would write them, as many as a test needs."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.adapters.store import SqliteStore
from referee.api.spec import Spec
from referee.config import Config
from referee.domain.cost import Budget
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.report import Iteration, Landed, Outcome, Report
from referee.domain.task import Task
from referee.flows.verdicts import FINDINGS
from referee.kernel.journal import GENESIS
from referee.ports import Kind

START = 1_760_000_000.0
DIFF = (
    "diff --git a/src/cart.py b/src/cart.py\n--- a/src/cart.py\n+++ b/src/cart.py\n"
    "@@ -1,4 +1,4 @@ def total(cart):\n def total(cart):\n     # what a customer pays\n"
    "-    return sum(cart) - 1\n+    return sum(cart)\n \n"
)
FOUND = Finding(
    check="pytest", id="tests/test_cart.py::test_total", path="src/cart.py", line=3, error="AssertionError",
    message="assert 4 == 5", expected="5", actual="4",
)  # fmt: skip


def spec(task: str, **budget: Any) -> str:
    """What a run was asked."""
    config = Config(budget=Budget.model_validate(budget)) if budget else Config()
    return Spec(task=Task(text=task, targets=("tests/test_cart.py::test_total",)), config=config).model_dump_json()


def row(step: int, **more: Any) -> Iteration:
    """One judged step; it failed unless told otherwise."""
    base: dict[str, Any] = {
        "step": step, "author": "model", "layer": Layer.TARGET, "exit_code": 1, "failed": (FOUND.id,),
        "fingerprint": f"{step:016x}", "duration_ms": 640, "touched": ("src/cart.py",),
    }  # fmt: skip
    return Iteration.model_validate({**base, **more})


class Writer:
    """Appends the entries of one run, chained as they must be."""

    def __init__(self, folder: Path, run_id: str, asked: str, status: str = "running") -> None:
        self.store, self.run_id, self._n, self._prev, self._at = SqliteStore(str(folder)), run_id, 0, GENESIS, START
        self.store.create(run_id, asked, moment(START))
        self._lines: list[tuple[object, ...]] = []
        self._path = folder / "state.db"
        self._asked, self._status = asked, status
        self.add("run:1", Kind.OPENED, {"spec": json.loads(asked), "elapsed": 0.0})

    def add(self, key: str, kind: Kind, facts: dict[str, Any], action: str = "") -> None:
        """One entry, not yet written."""
        self._n, self._at = self._n + 1, self._at + 0.05
        text, at = json.dumps(facts, sort_keys=True, separators=(",", ":")), moment(self._at)
        # Cheaper than the journal's own digest: nothing here asks whether the chain is whole.
        digest = hashlib.sha256(f"{self._prev}{key}{kind}{text}".encode()).hexdigest()
        self._lines.append((self.run_id, self._n, at, key, kind.value, action, text, self._prev, digest))
        self._prev = digest

    def act(self, key: str, action: str, outcome: str = "done", **cost: Any) -> None:
        """An action from its request to its end."""
        self.add(key, Kind.REQUESTED, {"action_digest": "0" * 64, "effect": "scratch"}, action)
        whole = {"steps": 0, "seconds": 0.0, "tokens": 0, "usd": "0", "tool_seconds": 0.0, **cost}
        elapsed = round(self._at - START, 3)
        facts = {"outcome": outcome, "result": "null", "blob": "", "cost": whole, "elapsed": elapsed}
        self.add(key, Kind.ENDED, facts, action)

    def judged(self, iteration: Iteration, found: Sequence[Finding] = (FOUND,)) -> None:
        """A step with its verdict."""
        n = iteration.step
        self.act(f"{n}a:charge_step", "charge_step", steps=1)
        self.act(f"{n}b:execute", "execute", tool_seconds=0.6)
        blob = self.store.put(FINDINGS.dump_json(tuple(found))) if found else ""
        facts = {"text": f"step {n}", "iteration": iteration.model_dump(mode="json"), "findings": blob}
        self.add(f"verdict:{n}", Kind.NOTED, facts)

    def flush(self) -> None:
        """Write what was added, all in one."""
        db = sqlite3.connect(self._path, timeout=30)
        db.executemany("insert into entry values (?,?,?,?,?,?,?,?,?)", self._lines)
        db.commit()
        db.close()
        self._lines.clear()

    def claim(self, owner: str, now: float) -> None:
        """Have a living owner work on it."""
        self.lease = self.store.claim(self.run_id, owner, now, 30)

    def finish_as(self, outcome: Outcome) -> None:
        """The run ended, as its owner says."""
        self.store.finish(self.lease, "done", outcome.model_dump_json())

    def finish(self, outcome: Outcome) -> None:
        """The run ended."""
        lease = self.store.claim(self.run_id, "process 1", START, 1)
        self.store.finish(lease, "done", outcome.model_dump_json())
        self.store.close()


def ended(run_id: str, task: str, rows: Sequence[Iteration], diff: str = DIFF, **more: Any) -> Outcome:
    """The outcome of a run; solved unless told otherwise."""
    reason = more.pop("stop_reason", StopReason.SOLVED)
    solved = reason is StopReason.SOLVED
    report = Report(
        run_id=run_id, task=task, stop_reason=reason, solved=solved, steps=len(rows),
        iterations=tuple(rows), wall_seconds=4.0, tool_seconds=3.1, generator="model", started_at=moment(START),
        touched_files=("src/cart.py",) if solved else (), landed=Landed(how="tree") if solved else None,
        budget=Budget(max_steps=max(8, len(rows))), **more,
    )  # fmt: skip
    return Outcome(solved=report.solved, stop_reason=reason, diff=diff, report=report)


def many(count: int) -> Iterator[Iteration]:
    """Steps that fail, the last of which passes."""
    for step in range(1, count + 1):
        yield row(step, passed=True, failed=(), layer=Layer.SUITE) if step == count else row(step)


def moment(seconds: float) -> str:
    """A time as the record writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def sha(text: str) -> str:
    """What a signature over a text covers."""
    return hashlib.sha256(text.encode()).hexdigest()
