"""A report as one HTML page that needs nothing else and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from referee.domain.report import Report
from referee.render.markdown import row_cells
from referee.render.plain import plain
from referee.render.words import axes, headline, title

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --warn: #bf8700; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.solved { color: var(--good); } .unsolved { color: var(--bad); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; }
.bar { background: var(--line); border-radius: .3rem; height: .7rem; min-width: 8rem; }
.bar div { background: var(--good); border-radius: .3rem; height: 100%; }
.bar.high div { background: var(--bad); } .bar.mid div { background: var(--warn); }
.added { color: var(--good); } .removed { color: var(--bad); } .place { opacity: .7; }
"""


def html(report: Report, diff: str = "") -> str:
    """The page. Everything from the run is escaped, and the page's own policy forbids scripts and requests."""
    state = "solved" if report.solved else "unsolved"
    body = [
        f'<h1><span class="{state}">{"Solved" if report.solved else "Not solved"}</span>: {_safe(title(report))}</h1>',
        f"<p>{_safe(headline(report))}</p>",
        *(f"<p>{_safe(words)}</p>" for words in (report.explanation, report.analysis) if words),
        _section("Targets", _items(report.targets)),
        _section("Steps", _steps(report)),
        _section("Budget", _bars(report)),
        _section("Notes", _items(report.notes)),
        _section("Other patches that passed", _items(report.alternatives)),
        _section(
            "Last failure", "" if report.solved or not report.feedback else f"<pre>{_safe(report.feedback)}</pre>"
        ),
        _section("Diff", _diff(diff)),
        _section("Settings", _settings(report)),
        _section("Run", _about(report)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{_safe(title(report))}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(b for b in body if b) + "\n</body></html>\n"
    )


def _safe(text: str) -> str:
    return escape(plain(text), quote=True)


def _section(title: str, content: str) -> str:
    return f"<h2>{title}</h2>\n{content}" if content else ""


def _items(items: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{_safe(i)}</li>" for i in items) + "</ul>" if items else ""


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    names = "".join(f"<th>{h}</th>" for h in head)
    cells = "".join("<tr>" + "".join(f"<td>{_safe(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{names}</tr>{cells}</table>"


def _steps(report: Report) -> str:
    head = ("step", "author", "touched", "result", "layer", "failed", "ms", "fingerprint")
    return _table(head, [row_cells(r) for r in report.iterations])


def _bars(report: Report) -> str:
    rows = []
    for axis in axes(report.budget, report.spent):
        level = "high" if axis.share > 0.8 else "mid" if axis.share > 0.5 else "low"
        bar = f'<div class="bar {level}"><div style="width:{axis.share * 100:.1f}%"></div></div>'
        rows.append(f"<tr><td>{axis.name}</td><td>{bar}</td><td>{_safe(axis.words)}</td></tr>")
    return f"<table>{''.join(rows)}</table><p>{report.tool_seconds:.1f} s of the time went into checks.</p>"


def _diff(diff: str) -> str:
    return "<pre>" + "\n".join(_diff_line(row) for row in diff.rstrip("\n").split("\n")) + "</pre>" if diff else ""


def _diff_line(row: str) -> str:
    kinds = (("+++", "place"), ("---", "place"), ("+", "added"), ("-", "removed"), ("@@", "place"), ("diff ", "place"))
    kind = next((name for start, name in kinds if row.startswith(start)), "")
    return f'<span class="{kind}">{_safe(row)}</span>' if kind else _safe(row)


def _settings(report: Report) -> str:
    return _table(("key", "value", "from"), [(s.key, str(s.value), s.origin) for s in report.config])


def _about(report: Report) -> str:
    isolation = f"{report.isolation.backend}, {report.isolation.level}" if report.isolation else ""
    rows = [
        ("run", report.run_id),
        ("stop reason", report.stop_reason.value),
        ("generator", report.generator),
        ("sandbox", isolation),
        ("started", report.started_at),
        ("finished", report.finished_at),
        *sorted(report.environment.items()),
    ]
    return _table(("what", "is"), [r for r in rows if r[1]])
