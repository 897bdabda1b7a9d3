"""A report as plain text for a terminal or a pipe."""

from __future__ import annotations

from referee.domain.report import Iteration, Report
from referee.render.plain import line, plain
from referee.render.words import headline


def text(report: Report) -> str:
    """What happened, in a few lines; ends with a newline."""
    lines = [line(headline(report))]
    if report.explanation:
        lines.append(f"  why      {line(report.explanation)}")
    if report.analysis:
        lines.append(f"  author   {line(report.analysis)}")
    if report.answer:
        lines += ["", *plain(report.answer).splitlines(), ""]
    if report.metrics:
        used = report.metrics
        lines.append(f"  agent    {used.steps} answers, {used.calls} tool calls, {used.invalid_call_rate:.0%} invalid")
    lines += [f"  target   {line(t)}" for t in report.targets]
    lines += [f"  step {i.step:<3} {step(i)}" for i in report.iterations]
    lines += [f"  also     {line(a)}" for a in report.alternatives]
    if report.isolation:
        lines.append(f"  sandbox  {line(report.isolation.backend)}, {line(report.isolation.level)}")
    if report.usage.calls:
        use = report.usage
        lines.append(f"  cache    {use.hit_rate:.0%} of {use.input:,} input tokens, in {use.calls} model calls")
    lines += [f"  note     {line(n)}" for n in report.notes]
    if not report.solved and report.feedback:
        lines += ["", *plain(report.feedback).splitlines()]
    return "\n".join(lines) + "\n"


def step(row: Iteration, width: int = 160) -> str:
    """One step on one line: who, what was touched, how far it got."""
    judged = f", {row.candidates_judged} candidates" if row.candidates_judged > 1 else ""
    touched = ", ".join(row.touched) or "no proposal"
    if row.passed:
        how = "passed every check"
    elif not row.proposed:
        how = row.note or "nothing found"
    else:
        killed = f" (killed: {row.killed_by})" if row.killed_by else ""
        where = f"failed at {row.layer.value}" if row.layer else "refused"
        how = f"{where}{killed}: {', '.join(row.failed) or row.note}"
    return line(f"{row.author}{judged}: {touched}: {how}", width)
