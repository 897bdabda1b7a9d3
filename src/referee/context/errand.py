"""What an agent that works by itself is told: the goal, what is off limits, and what the judge said last."""

from __future__ import annotations

from collections.abc import Sequence

from referee.context.fence import clipped, fenced, plain
from referee.context.prompt import judging
from referee.domain.brief import Brief, Strategy
from referee.domain.finding import Finding

FEEDBACK_CHARS = 8_000
TARGETS = 30
ATTEMPTS = 6

_RULES = """\
- Work in the current folder, a copy of the repository. When you end, the difference is taken as your proposal.
- A judge that you cannot change applies it to the unchanged repository and runs the checks. It alone decides.
- Mend the cause in the source, with the smallest change that is right. Do not special-case what a test uses.
- Tests, their helpers, and the configuration of tests and tools are not yours: changes to them are undone.
- Do not commit, do not ask anything: nobody is there to answer. Leave no scratch files behind."""

_GROUND = {
    Strategy.REPAIR: "The files are as the checks saw them last.",
    Strategy.BACK: "The last change made it worse, so it was undone; files and failure are those from before it.",
    Strategy.RESTART: "The last change was undone: the files are as they were before it.",
}


def errand(brief: Brief, undone: Sequence[Finding] = ()) -> str:
    """The brief in words for an agent with tools of its own. Pure; no word of it depends on the time."""
    targets = [plain(t) for t in brief.targets[:TARGETS]]
    more = [f"- and {len(brief.targets) - TARGETS} more"] if len(brief.targets) > TARGETS else []
    parts = [
        f"# Task\n{brief.task.text.strip() or 'Make the failing checks below pass by mending the source.'}",
        "# Failing now, to pass afterwards\n" + "\n".join([*(f"- {t}" for t in targets), *more]),
        *judging(brief),
        f"# Rules\n{_RULES}",
        f"# What the checks say\n{fenced(clipped(brief.feedback or 'nothing', FEEDBACK_CHARS))}",
    ]
    if brief.attempts:
        tried = [
            f"- changed {', '.join(plain(p) for p in a.touched) or 'nothing'}; failed: {plain(a.outcome)[:300]}"
            for a in brief.attempts[-ATTEMPTS:]
        ]
        parts.append("# Tried before, in order\n" + "\n".join(tried))
        parts.append(_GROUND[brief.strategy])
    if undone:
        parts.append("# Undone last time\n" + "\n".join(f"- {plain(f.message)}" for f in undone[:TARGETS]))
    return "\n\n".join(parts) + "\n"
