"""The deterministic fixers in one go: what they change, what they leave. No model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from referee.api.repairs import started, tidying
from referee.api.spec import Spec
from referee.api.tools import unrecorded
from referee.config import Config, load
from referee.domain.linted import LintReport, lint_report
from referee.domain.task import Task
from referee.domain.verdict import Verdict
from referee.flows.tidy import tidy
from referee.ports import Progress
from referee.wiring import Desk


def lint(
    repo: str = ".",
    config: Config | None = None,
    progress: Progress | None = None,
    *,
    fix: bool = False,
    wait: Callable[[str], None] | None = None,
) -> LintReport:
    """What the linters' own fixes change and leave. With `fix` it lands, recorded, and can be rolled back."""
    config = (config or load(repo)).model_copy(update={"land": "tree" if fix else "none"})
    said: list[Verdict] = []

    def listen(event: str, facts: Mapping[str, Any]) -> None:
        if event == "verdict":
            said.append(facts["verdict"])
        if progress is not None:
            progress(event, facts)

    if fix:
        outcome = started(Spec(task=Task(repo=repo, text="lint"), config=config, tidy=True), listen, wait)
        return lint_report(said[-1:], outcome.diff).model_copy(
            update={
                "run_id": outcome.report.run_id,
                "stop_reason": outcome.stop_reason,
                "landed": outcome.solved,
                "explanation": outcome.report.explanation,
            }
        )
    with Desk(repo, config) as desk:
        run = unrecorded(desk, config.budget, listen)
        if weakness := desk.weakness():
            run.note(weakness)
        ended = tidy(run, tidying(desk, land=False))
        diff = run.diff(ended.snapshot.tree, ended.tree) if ended.snapshot and ended.tree else b""
        return lint_report(said[-1:], diff.decode("utf-8", "replace")).model_copy(
            update={"stop_reason": ended.reason, "explanation": ended.note}
        )
