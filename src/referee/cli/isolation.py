"""What `referee doctor` shows: a table of what each backend isolates, then what is missing and what would help."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from referee.cli.output import put
from referee.domain.report import BackendReport, DoctorReport
from referee.render.plain import line

_COLOURS = {"full": "green", "hard": "green", "watched": "green", "partial": "yellow", "none": "red", "yes": "green"}


def show(found: DoctorReport) -> None:
    """Write the table and the notes to standard output."""
    names = ["", "usable", "isolates", *found.probed]
    # Backends side by side: few enough to fit on any terminal.
    columns, *rows = map(list, zip(names, *(_column(b, list(found.probed)) for b in found.backends), strict=True))
    if sys.stdout.isatty():
        _draw(columns, rows)
    else:
        put(_aligned([columns, *rows]))
    put("\n" + "".join(_notes(backend) for backend in found.backends))
    put("How it was measured, from inside:\n")
    put("".join(f"    {aspect:<10} {how}\n" for aspect, how in found.probed.items()))
    put(f"\nchosen: {found.chosen or _none(found.degraded)}\nyour own settings: {found.user_file}\n")


def _none(degraded: str) -> str:
    return f"none; nothing will run without --allow-degraded, which would use {degraded or 'nothing'}"


def _column(backend: BackendReport, aspects: Sequence[str]) -> list[str]:
    return [
        backend.name,
        "yes" if backend.usable else "no",
        backend.level,
        *(backend.isolates.get(aspect, "none") for aspect in aspects),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "".join(
        "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows
    )


def _draw(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(row[0], *(f"[{_COLOURS[c]}]{c}[/]" if c in _COLOURS else c for c in row[1:]))
    Console(highlight=False, emoji=False).print(table)


def _notes(backend: BackendReport) -> str:
    notes = [("not usable", backend.why_not), *(("lacks", words) for words in backend.lacks)]
    notes.append(("better with", backend.advice))
    rows = [f"    {label}: {line(text, 400)}\n" for label, text in notes if text]
    return "".join([f"{backend.name}\n", *rows]) if rows else ""
