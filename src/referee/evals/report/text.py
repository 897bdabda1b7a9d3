"""The table for a terminal."""

from __future__ import annotations

from referee.evals.report import rows
from referee.evals.report.markdown import comparison, sections
from referee.evals.summary import Summary

_WIDEST = 44


def table(summary: Summary) -> str:
    """The whole summary as text."""
    parts = [rows.SIMULATION + "\n"] if summary.simulated else []
    parts += ["\n".join(rows.meanings(summary)) + "\n", *(aligned(t) for _, t in sections(summary))]
    return "\n".join([*parts, "\n".join(rows.facts(summary)) + "\n"])


def compared(one: Summary, other: Summary) -> str:
    """Two summaries side by side."""
    return "\n".join(aligned(table) for _, table in comparison(one, other))


def aligned(table: rows.Table) -> str:
    """Rows with their columns below each other; a cell that is too wide goes on below."""
    cells = [[_wrapped(c) for c in row] for row in table]
    widths = [max(len(line) for row in cells for line in row[n]) for n in range(len(table[0]))]
    lines = []
    for row in cells:
        for n in range(max(map(len, row))):
            parts = [(c[n] if n < len(c) else "").ljust(w) for c, w in zip(row, widths, strict=True)]
            lines.append("  ".join(parts).rstrip())
    return "\n".join(lines) + "\n"


def _wrapped(cell: str) -> list[str]:
    lines = [""]
    for piece in cell.split(", "):
        if lines[-1] and len(lines[-1]) + len(piece) > _WIDEST:
            lines.append("")
        lines[-1] += f", {piece}" if lines[-1] else piece
    return lines
