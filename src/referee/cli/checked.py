"""What `referee check` shows: a row per check, what blocks, and one line that sums it up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from referee import __version__
from referee.cli.output import put
from referee.domain.errors import UsageError
from referee.domain.report import CheckReport
from referee.domain.verdict import CheckState
from referee.render.junit import junit
from referee.render.plain import line, plain
from referee.render.sarif import sarif

if TYPE_CHECKING:
    from rich.text import Text

FORMS: dict[str, Callable[[CheckReport], str]] = {
    ".json": lambda report: report.model_dump_json() + "\n",
    ".sarif": lambda report: sarif(report, __version__),
    ".xml": junit,
}
_COLOURS = {"pass": "green", "fail": "bold red", "not run": "yellow"}


def writable(files: Sequence[str]) -> None:
    """Refuse files that the result cannot be written to, before anything runs. Raises `UsageError`."""
    for file in files:
        if os.path.splitext(file)[1] not in FORMS:
            raise UsageError(
                f"--output {file}: the name must end with one of {', '.join(FORMS)} (JUnit), as in r.sarif"
            )
        folder = os.path.dirname(os.path.abspath(file))
        if not os.path.isdir(folder):
            raise UsageError(f"--output {file}: there is no folder {folder}; make it first")


def write(report: CheckReport, files: Sequence[str]) -> None:
    """Write the result to files, each in the form that its name ends with. Raises `UsageError` in words."""
    for file in files:
        text = FORMS[os.path.splitext(file)[1]](report)
        try:
            with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(text)
        except OSError as error:
            raise UsageError(f"--output {file}: {error.strerror}") from error


def show(report: CheckReport) -> None:
    """Write the result for people: in colours on a terminal, plain text in a pipe."""
    rows = _rows(report)
    if not sys.stdout.isatty():
        put("\n".join([*map("  ".join, rows), *_rest(report)]) + "\n")
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    for row, state in zip(rows, report.layers, strict=True):
        console.print(_coloured(row, state.state.value.replace("_", " ")), soft_wrap=True)
    *others, last = _rest(report)
    for n, words in enumerate(others):
        begins = bool(words) and not words.startswith((" ", "sandbox ")) and (n == 0 or not others[n - 1])
        console.print(words, style="bold" if begins else "", soft_wrap=True)
    console.print(last, style="bold green" if report.passed else "bold red", soft_wrap=True)


def _rows(report: CheckReport) -> list[tuple[str, ...]]:
    """Layer, state, check, seconds, note."""
    width = max((len(line(s.check, 40)) for s in report.layers), default=0)
    return [
        (
            s.layer.value,
            f"{s.state.value.replace('_', ' '):<7}",
            f"{line(s.check, 40):<{width}}",
            f"{s.duration_ms / 1000:>7.2f} s",
            *([line(s.note, 160)] if s.note else []),
        )
        for s in report.layers
    ]


def _coloured(row: Sequence[str], state: str) -> Text:
    from rich.text import Text

    text = Text()
    text.append(row[0] + "  ", "dim")
    text.append(row[1] + "  ", _COLOURS[state])
    text.append(row[2] + "  ")
    text.append("  ".join(row[3:]), "dim")
    return text


def _rest(report: CheckReport) -> list[str]:
    rows = [] if report.passed else ["", *plain(report.feedback).rstrip().splitlines(), ""]
    if report.isolation:
        rows.append(f"sandbox  {report.isolation.backend}, {report.isolation.level}")
    good = sum(s.state is CheckState.PASS for s in report.layers)
    seconds = sum(s.duration_ms for s in report.layers) / 1000
    found = f", findings: {len(report.findings)}" if report.findings else ""
    ignored = f", ignored: {len(report.ignored)}" if report.ignored else ""
    told = f"{good} of {len(report.layers)} checks passed in {seconds:.1f} s{found}{ignored}: "
    rows.append(told + ("passed" if report.passed else "failed"))
    return rows
