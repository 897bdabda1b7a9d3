"""A report as plain text for a terminal or a pipe."""

from __future__ import annotations

from referee.domain.component import timeline
from referee.domain.report import Iteration, Report
from referee.render.plain import line, plain
from referee.render.shown import presented
from referee.render.words import headline


def text(report: Report) -> str:
    """What happened, in a few lines; ends with a newline."""
    lines = [line(headline(report))]
    if report.explanation:
        lines.append(f"  why      {line(report.explanation)}")
    if report.analysis:
        lines.append(f"  author   {line(report.analysis)}")
    for shown in report.presented:
        lines += ["", *presented(shown)]
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
    [item] = timeline((row,)).rounds
    judged = f", {item.candidates} candidates" if item.candidates > 1 else ""
    touched = ", ".join(item.touched) or "no proposal"
    failed = f": {', '.join(item.failed)}" if item.failed and not row.passed and row.proposed else ""
    return line(f"{item.author}{judged}: {touched}: {item.how}{failed}", width)
