"""The same facts in the same words, whatever they are rendered to."""

from __future__ import annotations

from referee.domain.component.made import dollars
from referee.domain.reason import StopReason
from referee.domain.report import Report

__all__ = ["REASONS", "dollars", "headline", "title"]

REASONS = {
    StopReason.SOLVED: "solved",
    StopReason.STEPS_EXHAUSTED: "every step of the budget is used; allow more with --max-steps",
    StopReason.TIMEOUT: "the time is used up; allow more with --timeout",
    StopReason.TOKEN_EXHAUSTED: "the tokens are used up; allow more with --max-tokens",
    StopReason.COST_TRIPPED: "the money is used up, or the next call could not be paid; allow more with --max-cost",
    StopReason.NON_PROGRESS: "no further progress; the same failure came again or nothing was left to try",
    StopReason.SANDBOX_KILLED: "the checks were killed by a limit of the sandbox twice in a row",
    StopReason.HUMAN_ABORT: "stopped by a person; nothing is half written",
    StopReason.FLAKY_CHECK: "a check is flaky: it does not answer the same way twice; make it stable first",
    StopReason.GATE_REGRESSION: "the target passes, but something else broke",
    StopReason.SCHEMA_FAILURE: "the model did not answer in the form asked for",
    StopReason.JUDGE_UNRELIABLE: "the checks cannot be relied on",
    StopReason.NOT_REPRODUCED: "nothing fails: there is nothing to repair",
    StopReason.BASE_MOVED: "files changed while the run worked; nothing was written, the proposal is kept",
    StopReason.NEEDS_SIGNATURE: "waits for a person to decide; nothing was written",
    StopReason.WORLD_FAULT: "this machine could not do what was needed",
}


def headline(report: Report) -> str:
    """One sentence: how it ended, what it cost, what it touched."""
    judged = f", {report.candidates_judged} candidates judged" if report.candidates_judged else ""
    cost = f"{_count(report.steps, 'step')}{judged}, {report.wall_seconds:.1f} s, {dollars(report.cost_usd)}"
    if not report.solved:
        return f"Not solved ({report.stop_reason.value}): {REASONS[report.stop_reason]}. {cost}"
    if report.landed is not None and report.landed.how.startswith("outside:"):
        return f"Done in {cost}: {report.explanation}"
    if report.answer and not report.touched_files:
        return f"Answered in {cost}; no file was changed"
    return f"Solved in {cost}: {', '.join(report.touched_files)}{_place(report)}"


def title(report: Report) -> str:
    """What the run was about: the task, else its targets, else its id."""
    return report.task or ", ".join(report.targets) or report.run_id


def _place(report: Report) -> str:
    if report.landed is None or report.landed.how == "none":
        return "; nothing was written"
    how, _, what = report.landed.how.partition(":")
    revision = (report.landed.revision or "")[:12]
    places = {
        "tree": ", in your working tree",
        "commit": f", committed as {revision}",
        "branch": f", on branch {what}",
        "patch": ", as a patch on standard output" if what == "-" else f", as a patch in {what}",
        "pr": f", as pull request {report.landed.revision}",
    }
    return places.get(how, f", landed as {report.landed.how}")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
