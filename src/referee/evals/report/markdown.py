"""The summary as Markdown."""

from __future__ import annotations

from referee.evals.report import rows
from referee.evals.summary import Summary


def markdown(summary: Summary, other: Summary | None = None) -> str:
    """The whole summary; with `other`, the two compared first."""
    parts = [f"# Evaluation: {_plain(summary.player)}\n"]
    if summary.simulated:
        parts.append(f"**{rows.SIMULATION}**\n")
    parts.append("\n".join(f"* {_plain(m)}" for m in [*rows.meanings(summary), *rows.facts(summary)]) + "\n")
    if other is not None:
        parts += [f"## {title}\n\n{_table(table)}" for title, table in comparison(summary, other)]
    parts += [f"## {title}\n\n{_table(table)}" for title, table in sections(summary)]
    return "\n".join(parts)


def comparison(one: Summary, other: Summary) -> list[tuple[str, rows.Table]]:
    """The tables that set two reports side by side, with their titles."""
    made: list[tuple[str, rows.Table]] = [("Compared with another", rows.against(one, other))]
    paired = rows.against_pairs(one, other)
    return [*made, ("Trials that both reports have", paired)] if len(paired) > 1 else made


def sections(summary: Summary) -> list[tuple[str, rows.Table]]:
    """The tables that there is something for, with their titles."""
    made: list[tuple[str, rows.Table]] = [("Results", rows.main(summary))]
    if summary.pairs:
        made.append(("Pairs of trials with the same task and seed", rows.pairs(summary.pairs)))
    if summary.recall:
        made.append(("What the adversary did and what was noticed", rows.recall(summary)))
    if any(summary.layers.values()):
        made.append(("Layer by layer", rows.layers(summary)))
    if summary.sensitivity:
        made.append(("Success by the number of steps", rows.sensitivity(summary)))
    return made


def _table(table: rows.Table) -> str:
    head, *body = [[_plain(c.strip()) for c in row] for row in table]
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """Text that is no markup, on one line."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\|`*_<>#" else c for c in flat)
