"""The message of a commit, from what the record says; what an author wrote in it stays plain words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from referee.domain.layer import Layer
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState

SUBJECT, WIDTH, SHOWN = 72, 72, 12
# Servers act on these in messages: skipped pipelines, closed issues, people called.
_MEANT = (
    (re.compile(r"\[([^\]]*\b(?:ci|skip|no)\b[^\]]*)\]", re.I), r"(\1)"),
    (re.compile(r"#(?=\d)"), "# "),
    (re.compile(r"(?<!\w)@(?=\w)"), "@ "),
)


class Repaired(Value):
    """What a commit tells: the task, what was wrong, what changed, and which checks passed.

    `apart` are files with uncommitted changes that the judge saw and the commit does not hold.
    """

    run_id: str
    task: str = ""
    targets: tuple[str, ...] = ()
    cause: str = ""
    author: str = ""
    touched: tuple[str, ...] = ()
    results: tuple[CheckResult, ...] = ()
    apart: tuple[str, ...] = ()


def commit_message(repaired: Repaired) -> str:
    """Subject of at most 72 characters, a body, and trailers that `git interpret-trailers` reads."""
    paragraphs = [subject(repaired.task, repaired.targets)]
    if repaired.cause:
        paragraphs.append(_filled("What was wrong: " + plain_words(repaired.cause)))
    paragraphs.append(_list("What changed:", repaired.touched))
    if repaired.targets:
        paragraphs.append(_list("What failed before and passes now:", repaired.targets))
    passed = [r for r in repaired.results if r.state is CheckState.PASS]
    trailers = [
        f"Referee-Run: {repaired.run_id}",
        f"Referee-Author: {plain_words(repaired.author) or 'unknown'}",
        f"Referee-Judge: {judge_summary(passed)}",
    ]
    if repaired.apart:
        trailers.append(f"Referee-Judged-With: uncommitted changes in {len(repaired.apart)} other files")
    return "\n\n".join([*paragraphs, "\n".join(trailers)]) + "\n"


def changelog_entry(repaired: Repaired) -> str:
    """One bullet of a changelog: the task, where it was done, and the test that shows it."""
    where = [plain_words(path) for path in repaired.touched]
    rest = f" and {len(where) - 2} more files" if len(where) > 2 else ""
    places = f" in {', '.join(where[:2])}{rest}" if where else ""
    first, *more = [plain_words(t) for t in repaired.targets] or [""]
    shown = f" (shown by {first}{f' and {len(more)} more' if more else ''})" if first else ""
    return f"* {subject(repaired.task, repaired.targets)}{places}{shown}.\n"


def judge_summary(passed: Sequence[CheckResult]) -> str:
    """Which checks passed, by layer, in one line."""
    if not passed:
        return "nothing was judged"
    by_layer: dict[Layer, list[str]] = {}
    for result in passed:
        by_layer.setdefault(result.layer, []).append(plain_words(result.check))
    return "passed " + "; ".join(
        f"{layer.value} {', '.join(dict.fromkeys(names))}" for layer, names in sorted(by_layer.items())
    )


def plain_words(text: str) -> str:
    """One line of printable words that no server takes for an instruction."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for meant, instead in _MEANT:
        line = meant.sub(instead, line)
    return line


def subject(task: str, targets: Sequence[str]) -> str:
    """One line of at most 72 characters: the task, or what was mended."""
    about = task or (f"Mend {targets[0]}" if targets else "")
    line = plain_words(about).rstrip(".") or "Mend what fails"
    if len(line) <= SUBJECT:
        return line
    short = textwrap.shorten(line, SUBJECT, placeholder=" ...")
    return short if short != "..." else line[: SUBJECT - 3] + "..."


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _list(title: str, items: Iterable[str]) -> str:
    named = [plain_words(item) for item in items]
    rows = [f"* {name}" for name in named[:SHOWN]]
    if len(named) > SHOWN:
        rows.append(f"* and {len(named) - SHOWN} more")
    return "\n".join([title, *rows])
