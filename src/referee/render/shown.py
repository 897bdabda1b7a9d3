"""What an agent shows a person, as plain text."""

from __future__ import annotations

from referee.domain.observation import Presented
from referee.render.plain import line, plain

MOST_LINES = 40


def presented(shown: Presented) -> list[str]:
    """Its title, files and table in lines; of a long file the beginning."""
    lines = [line(shown.title)] if shown.title else []
    for path, text in shown.files:
        rows = plain(text).splitlines()
        lines += [f"--- {line(path)}", *(f"  {row}" for row in rows[:MOST_LINES])]
        lines += [f"  … {len(rows) - MOST_LINES} more lines"] if len(rows) > MOST_LINES else []
    if shown.head:
        cells = [tuple(line(c) for c in row) for row in (shown.head, *shown.rows)]
        widths = [max(len(row[n]) for row in cells) for n in range(len(shown.head))]
        rows = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        lines += [rows[0], "  ".join("-" * w for w in widths), *rows[1:]]
    return lines
