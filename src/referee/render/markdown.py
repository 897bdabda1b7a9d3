"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from referee.domain.component import budget_meter
from referee.domain.report import Iteration, Report
from referee.render.plain import line, plain
from referee.render.shown import presented
from referee.render.words import headline, title

MOST = 60_000  # characters; a comment on a pull request may have 65 536
_SPARE = 200  # for the fence and the words after it
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$@])")


def markdown(report: Report, diff: str = "") -> str:
    """The report with its steps, budget and diff. No text in it can become markup, a link or a fence's end."""
    parts = [
        f"# {'Solved' if report.solved else 'Not solved'}: {cell(title(report))}",
        cell(headline(report)),
    ]
    parts += [cell(words) for words in (report.explanation, report.analysis) if words]
    parts += ["## Shown by the agent\n\n" + fence("\n".join(presented(s)), "") for s in report.presented]
    parts += [_bullets("Targets", report.targets), _steps(report.iterations), _budget(report)]
    parts += [_bullets("Notes", report.notes), _bullets("Other patches that passed", report.alternatives)]
    if report.feedback and not report.solved:
        parts.append("## Last failure\n\n" + fence(report.feedback, ""))
    rest = [_settings(report), _about(report)]
    if diff:
        room = MOST - sum(len(p) + 2 for p in (*parts, *rest))
        parts.append("## Diff\n\n" + _within(diff, room, report.run_id))
    parts += rest
    return "\n\n".join(p for p in parts if p) + "\n"


def _within(diff: str, room: int, run_id: str) -> str:
    """The diff as a code block, cut at a line where it would not fit."""
    whole = fence(diff, "diff")
    if len(whole) <= room:
        return whole
    cut = plain(diff)[: max(0, room - _SPARE)].rpartition("\n")[0]
    left = diff.count("\n") - cut.count("\n")
    return f"{fence(cut, 'diff')}\n\n{left} more lines: `referee show {run_id} --format diff`"


def cell(text: str) -> str:
    """`text` on one line, every character that Markdown gives a meaning escaped."""
    return _SPECIAL.sub(r"\\\1", line(text))


def fence(text: str, language: str) -> str:
    """`text` as a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{plain(text).rstrip()}\n{ticks}"


def _bullets(title: str, items: tuple[str, ...]) -> str:
    return f"## {title}\n\n" + "\n".join(f"* {cell(i)}" for i in items) if items else ""


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows])


def _steps(rows: tuple[Iteration, ...]) -> str:
    head = ("step", "author", "touched", "result", "layer", "failed", "ms", "fingerprint")
    return "## Steps\n\n" + _table(head, [row_cells(r) for r in rows]) if rows else ""


def row_cells(row: Iteration) -> tuple[str, ...]:
    """One step as the cells of a table."""
    result = "passed" if row.passed else f"killed: {row.killed_by}" if row.killed_by else row.note or "failed"
    layer = row.layer.value if row.layer else ""
    failed = ", ".join(row.failed)
    touched = ", ".join(row.touched)
    return (str(row.step), row.author, touched, result, layer, failed, str(row.duration_ms), row.fingerprint)


def _budget(report: Report) -> str:
    rows = [(a.name, a.words, f"{a.share:.0%}") for a in budget_meter(report.budget, report.spent).meters]
    rows.append(("checks", f"{report.tool_seconds:.1f} s of the time", ""))
    return "## Budget\n\n" + _table(("axis", "spent", "share"), rows)


def _settings(report: Report) -> str:
    rows = [(s.key, str(s.value), s.origin) for s in report.config if s.origin != "default"]
    return "## Settings that are not the default\n\n" + _table(("key", "value", "from"), rows) if rows else ""


def _about(report: Report) -> str:
    rows = [("run", report.run_id), ("stop reason", report.stop_reason.value), ("generator", report.generator)]
    if report.isolation:
        rows.append(("sandbox", f"{report.isolation.backend}, {report.isolation.level}"))
    rows += [("started", report.started_at), ("finished", report.finished_at), *sorted(report.environment.items())]
    return "## Run\n\n" + _table(("what", "is"), [r for r in rows if r[1]])
