"""Small plots as SVG, drawn by hand: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from referee.evals.statistics import Interval
from referee.evals.summary import Span

WIDTH, LEFT, RIGHT, ROW = 640, 90, 60, 26
COLOURS = ("#2f6fab", "#c25b12", "#2e8540", "#8e44ad", "#b8860b", "#6b7280", "#c0392b", "#16a085")


def intervals(title: str, values: Mapping[str, Interval]) -> str:
    """A share per row, with its interval."""
    marks = []
    for n, (name, v) in enumerate(values.items()):
        y = _row(n)
        low, mean, high = (_x(s, 1.0) for s in (v.low, v.mean, v.high))
        marks += [
            _label(name, y),
            f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" stroke="{COLOURS[0]}" stroke-width="2"/>',
            f'<circle cx="{mean:.1f}" cy="{y}" r="5" fill="{COLOURS[0]}"/>',
            _text(WIDTH - RIGHT + 8, y + 4, f"{v.mean:.0%}"),
        ]
    ticks = [_tick(_x(s, 1.0), f"{s:.0%}", len(values)) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return _drawing(title, len(values), [*ticks, *marks])


def bars(title: str, values: Mapping[str, float], form: str = ".1f") -> str:
    """A number per row."""
    most = max([*values.values(), 1e-9])
    marks = []
    for n, (name, value) in enumerate(values.items()):
        y = _row(n)
        marks += [_label(name, y), _bar(LEFT, y, _x(value, most) - LEFT, COLOURS[0], f"{name}: {value:{form}}")]
        marks.append(_text(WIDTH - RIGHT + 8, y + 4, f"{value:{form}}"))
    return _drawing(title, len(values), marks)


def stacked(title: str, values: Mapping[str, Mapping[str, int]]) -> str:
    """Shares of each row, with a legend below."""
    names = list(dict.fromkeys(k for parts in values.values() for k in parts))
    colour = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}
    marks = []
    for n, (row, parts) in enumerate(values.items()):
        y, x, total = _row(n), float(LEFT), sum(parts.values())
        marks.append(_label(row, y))
        for name, count in parts.items():
            wide = (WIDTH - LEFT - RIGHT) * count / total
            marks.append(_bar(x, y, wide, colour[name], f"{row}: {name} {count} of {total}"))
            x += wide
    below = len(values)
    for n, name in enumerate(names):
        x, y = LEFT + 185 * (n % 3), _row(below + n // 3)
        marks += [_bar(x, y, 12, colour[name], name), _text(x + 18, y + 4, name)]
    return _drawing(title, below + (len(names) + 2) // 3, marks)


def curve(title: str, points: Mapping[str, Mapping[int, Interval]]) -> str:
    """Shares over a number of steps, one line per configuration."""
    rows = 8
    most = max((n for line in points.values() for n in line), default=1)
    bottom, high = _row(rows - 1), _row(rows - 1) - _row(0)
    marks = [_text(LEFT - 44, bottom - high * s + 4, f"{s:.0%}") for s in (0.0, 0.5, 1.0)]
    for index, (name, line) in enumerate(points.items()):
        colour = COLOURS[index % len(COLOURS)]
        at = {n: (_x(n, most), bottom - high * v.mean) for n, v in sorted(line.items())}
        marks += [
            f'<line x1="{at[n][0]:.1f}" y1="{bottom - high * v.low:.1f}" x2="{at[n][0]:.1f}" '
            f'y2="{bottom - high * v.high:.1f}" stroke="{colour}" opacity="0.5"/>'
            for n, v in line.items()
        ]
        marks.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" '
            f'points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at.values())}"/>'
        )
        last = at[max(at)]
        marks.append(_text(last[0] + 8, last[1] + 4, name))
        marks += [_text(x - 4, bottom + 18, str(n)) for n, (x, _) in at.items()]
    return _drawing(title, rows, marks)


def timeline(title: str, spans: Sequence[Span]) -> str:
    """When each trial was played, one row per configuration."""
    names = sorted({s.config for s in spans})
    end = max((s.start + s.seconds for s in spans), default=1.0) or 1.0
    marks = [_label(name, _row(n)) for n, name in enumerate(names)]
    for s in spans:
        x, colour = _x(s.start, end), COLOURS[2] if s.success else COLOURS[5]
        said = f"{s.trial}: {s.seconds:.0f} s, {'success' if s.success else 'no success'}"
        marks.append(_bar(x, _row(names.index(s.config)), max(1.5, _x(s.seconds, end) - LEFT), colour, said))
    marks += [_tick(_x(end * share, end), f"{end * share:.0f} s", len(names)) for share in (0.0, 0.5, 1.0)]
    below = _row(len(names)) + ROW
    marks += [_bar(LEFT, below, 12, COLOURS[2], "success"), _text(LEFT + 18, below + 4, "success")]
    marks += [_bar(LEFT + 185, below, 12, COLOURS[5], "no success"), _text(LEFT + 203, below + 4, "no success")]
    return _drawing(title, len(names) + 2, marks)


def _x(value: float, most: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / most


def _row(n: int) -> int:
    return 20 + ROW * n


def _bar(x: float, y: float, wide: float, colour: str, said: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y - 8}" width="{max(wide, 0):.1f}" height="16" fill="{colour}">'
        f"<title>{escape(said)}</title></rect>"
    )


def _label(name: str, y: float) -> str:
    return _text(LEFT - 10, y + 4, name, anchor="end")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _tick(x: float, text: str, rows: int) -> str:
    bottom = _row(rows) - 8
    line = f'<line x1="{x:.1f}" y1="6" x2="{x:.1f}" y2="{bottom}" stroke="currentColor" opacity="0.15"/>'
    return line + _text(x, bottom + 14, text, anchor="middle")


def _drawing(title: str, rows: int, marks: Sequence[str]) -> str:
    high = _row(rows) + 12
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" height="{high}" fill="currentColor" font-size="12">'
        f"{''.join(marks)}</svg></figure>"
    )
