"""The report of a run, made from what it told as it went, so that it is there however the run ended."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from referee import __version__
from referee.adapters.store.blobs import write_whole as replace_file
from referee.config import Config
from referee.domain.cost import BudgetView
from referee.domain.errors import Suspended, WorldFault
from referee.domain.metrics import Metrics
from referee.domain.observation import Presented
from referee.domain.reason import StopReason
from referee.domain.redaction import Redaction
from referee.domain.report import IsolationStamp, Iteration, Landed, Outcome, Report, exit_code, iteration
from referee.domain.task import Task
from referee.domain.verdict import Verdict
from referee.flows.plan import Ended
from referee.kernel.run import Run
from referee.ports import Clock, Landing, Progress, RunRecord
from referee.render import html, markdown


class Recorder:
    """Listens to a run's progress, passes it on, and writes the report at the end."""

    def __init__(self, record: RunRecord, task: Task, config: Config, clock: Clock) -> None:
        self._record, self._task, self._config, self._clock = record, task, config, clock
        self._targets, self._generator = task.targets, ""
        self.diff = b""  # exact, where an outcome's is text
        self._landing = ("", "")  # the trees before and after
        self._answer = ""  # an agent's, so far, as the metrics are
        self._metrics: Metrics | None = None
        self._presented: tuple[Presented, ...] = ()
        self._iterations: list[Iteration] = []
        self._notes: list[str] = []
        self._pass_on: Progress | None = None

    def listening(self, pass_on: Progress | None) -> Progress:
        """A progress listener that keeps what the report needs and passes everything on."""
        self._pass_on = pass_on
        return self._tell

    def _tell(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "round":
            self._targets, self._generator = facts["targets"], facts["generator"]
        if event == "verdict" and isinstance(facts["verdict"], Verdict):
            self._iterations.append(iteration(facts["step"], facts["verdict"]))
        if event == "answer":
            self._answer, self._metrics = facts["answer"], facts["metrics"]
            self._presented = facts["presented"]
        if event == "land":
            self._landing = facts["before"], facts["after"]
        if event == "note":
            if str(facts["text"]) in self._notes:
                return  # said again by a later step: a report is not longer for it
            self._notes.append(str(facts["text"]))
        if self._pass_on is not None:
            self._pass_on(event, facts)

    def outcome(self, run: Run, ended: Ended, isolation: IsolationStamp | None) -> Outcome:
        """The outcome of a repair that came to its end."""
        if ended.snapshot is not None and ended.tree:
            self.diff = run.diff(ended.snapshot.tree, ended.tree)
        last = ended.shown or (ended.rounds[-1] if ended.rounds else None)
        cause = last.summary if last else ""
        # Of a repair people want to know what was wrong; of a run without one, why it ended.
        why = (cause, ended.note) if ended.solved or ended.shown else (ended.note, cause)
        more: dict[str, Any] = {
            "targets": ended.targets or self._targets,
            "candidates_judged": ended.judged,
            "generator": ended.generator,
            "touched_files": ended.patch.touched if ended.solved else (),
            "landed": self._landed(ended),
            "explanation": why[0] or why[1],
            "analysis": last.analysis if last else "",
            "feedback": last.verdict.feedback if last else "",
            "alternatives": last.alternatives if last else (),
            "doubt": last.verdict.doubt if last else "",
            "isolation": isolation,
            "answer": ended.answer,
            "metrics": ended.metrics,
            "presented": ended.presented,
        }
        return self._report(ended.reason, run.view, self.diff.decode("utf-8", "replace"), more)

    def cut_short(self, reason: StopReason, words: str, view: BudgetView, isolation: IsolationStamp | None) -> Outcome:
        """The outcome of a run that something ended from outside."""
        judged = sum(i.candidates_judged for i in self._iterations)
        more = {
            "targets": self._targets,
            "generator": self._generator,
            "explanation": words,
            "candidates_judged": judged,
            "isolation": isolation,
            "answer": self._answer,
            "metrics": self._metrics,
            "presented": self._presented,
        }
        return self._report(reason, view, "", more)

    def waiting(self, run: Run, waits: Suspended, isolation: IsolationStamp | None) -> Outcome:
        """The outcome so far of a run that waits for a person; `diff` is the change that it would land."""
        before, after = self._landing
        self.diff = run.diff(before, after) if before else b""
        outcome = self.cut_short(StopReason.NEEDS_SIGNATURE, str(waits), run.view, isolation)
        return outcome.model_copy(update={"diff": self.diff.decode("utf-8", "replace")})

    def as_landed(self, outcome: Outcome, landing: Landing | None) -> Outcome:
        """The outcome of a run that was stopped, with what it had landed by then."""
        if landing is None:
            return outcome
        landed = Landed(how=landing.how, revision=landing.revision)
        update = {"landed": landed, "touched_files": landing.written}
        return outcome.model_copy(update={"report": outcome.report.model_copy(update=update)})

    def _landed(self, ended: Ended) -> Landed | None:
        if not ended.solved or self._config.land == "none":
            return None
        if ended.landing is None:
            return Landed(how=self._config.land)
        return Landed(how=ended.landing.how, revision=ended.landing.revision)

    def _report(self, reason: StopReason, view: BudgetView, diff: str, more: Mapping[str, Any]) -> Outcome:
        spent = view.spent
        report = Report(
            run_id=self._record.run_id,
            task=self._task.text,
            stop_reason=reason,
            solved=reason is StopReason.SOLVED,
            steps=spent.steps,
            tokens=spent.tokens,
            cost_usd=spent.usd,
            model_cost_usd=spent.usd,
            tool_seconds=round(spent.tool_seconds, 3),
            wall_seconds=round(spent.seconds, 3),
            iterations=tuple(self._iterations),
            unauthorised=sum(i.unauthorised for i in self._iterations),
            notes=tuple(self._notes),
            budget=view.budget,
            pressure=round(view.pressure, 3),
            config=self._config.resolved(),
            environment={"referee": __version__, "python": platform.python_version(), "system": platform.platform()},
            started_at=self._record.created,
            finished_at=datetime.fromtimestamp(self._clock.now(), UTC).isoformat(timespec="milliseconds"),
            exit=exit_code(reason),
            **more,
        )
        return Outcome(solved=report.solved, stop_reason=reason, diff=diff, report=report)


def discreet(outcome: Outcome, redaction: Redaction) -> Outcome:
    """The outcome without secrets, and a note that says so: only a patch stays as it is, since it is there to apply."""
    text = outcome.model_dump_json()
    if (clean := redaction.document(text, forms=True)) == text:
        return outcome
    shown = Outcome.model_validate_json(clean)
    words = "a secret was in what this report tells; it is hidden. A patch file is exact: look at it before you send it"
    report = shown.report.model_copy(update={"notes": (*shown.report.notes, words)})
    return shown.model_copy(update={"report": report})


def write_report(folder: str, outcome: Outcome, redaction: Redaction, diff: bytes = b"") -> None:
    """Write `RUN.json`, `.md`, `.html` and, when there is one, `RUN.patch`; each whole or not at all.

    Secrets are hidden but for the patch. Raises `WorldFault` if the disk refuses.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise WorldFault(f"{folder} could not be made: {error}") from error
    outcome = discreet(outcome, redaction)
    stem = os.path.join(folder, outcome.report.run_id)
    texts = {
        ".json": outcome.report.model_dump_json(indent=2) + "\n",
        ".md": markdown(outcome.report, outcome.diff),
        ".html": html(outcome.report, outcome.diff),
    }
    for ending, text in texts.items():
        write_whole(stem + ending, text.encode("utf-8", "surrogateescape"))
    if diff:
        write_whole(stem + ".patch", diff)


def write_whole(path: str, data: bytes) -> None:
    """Write beside, sync and rename. Raises `WorldFault` if the disk refuses."""
    try:
        replace_file(os.path.abspath(path), data)
    except OSError as error:
        raise WorldFault(f"{path} could not be written: {error}") from error
