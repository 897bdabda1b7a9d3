"""The summary as one HTML page with plots, complete in itself."""

from __future__ import annotations

from html import escape

from referee.evals.report import rows, svg
from referee.evals.report.markdown import comparison, sections
from referee.evals.summary import Summary

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884}
figure{margin:1.5rem 0}figcaption{font-weight:600}svg{max-width:100%;height:auto}
.simulation{border:2px solid #c25b12;padding:.5rem 1rem}
"""


def page(summary: Summary, other: Summary | None = None) -> str:
    """The whole page; with `other`, the two compared first."""
    said = [*rows.meanings(summary), *rows.facts(summary)]
    parts = [f"<h1>Evaluation: {escape(summary.player)}</h1>"]
    if summary.simulated:
        parts.append(f'<p class="simulation"><strong>{escape(rows.SIMULATION)}</strong></p>')
    parts.append(f"<ul>{''.join(f'<li>{escape(s)}</li>' for s in said)}</ul>")
    if other is not None:
        parts += [_section(title, table) for title, table in comparison(summary, other)]
    parts += [*_plots(summary), *(_section(title, table) for title, table in sections(summary))]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>Evaluation: {escape(summary.player)}</title>'
        f"<style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _plots(summary: Summary) -> list[str]:
    columns = summary.configs
    drawn = [
        svg.intervals("Success, with 95 % intervals", {n: c.success for n, c in columns.items()}),
        svg.bars("Steps per trial", {n: c.steps for n, c in columns.items()}),
        svg.bars("Seconds per trial, median", {n: c.wall_p50 for n, c in columns.items()}),
        svg.stacked("How the runs ended, by their own word", {n: c.stop_reasons for n, c in columns.items()}),
    ]
    if any(c.cost_usd for c in columns.values()):
        drawn.append(svg.bars("US dollars per trial", {n: c.cost_usd for n, c in columns.items()}, ".4f"))
    if summary.sensitivity:
        drawn.append(svg.curve("Success by the number of steps allowed", summary.sensitivity))
    if summary.timeline:
        drawn.append(svg.timeline("When the trials were played", summary.timeline))
    return drawn


def _section(title: str, table: rows.Table) -> str:
    head, *body = table
    top = "".join(f'<th scope="col">{escape(c)}</th>' for c in head)
    lines = [
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(c)}</td>" for c in row[1:])}</tr>'
        for row in body
    ]
    return f"<h2>{escape(title)}</h2><table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
