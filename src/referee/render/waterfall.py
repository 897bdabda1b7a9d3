"""Plots as SVG: attributes only, so that a page may forbid inline styles."""

from __future__ import annotations

from referee.domain.component import Plot, Point, Span
from referee.render.elements import Html, el

WIDTH = 640.0


def plot(given: Plot) -> Html:
    """A waterfall of spans, or bars of points; every number is also there in words."""
    if given.spans:
        return _waterfall(given)
    most = max((p.value for p in given.points), default=0.0) or 1.0
    rows = [_bar(p, most, given.unit) for p in given.points]
    return _framed(given.caption, ("what", given.unit or "value", ""), rows)


def _waterfall(given: Plot) -> Html:
    start = min(s.start for s in given.spans)
    end = max(s.start + (s.seconds or 0.0) for s in given.spans)
    length = max(end - start, 0.001)
    rows = [_span(s, start, length) for s in given.spans]
    return _framed(given.caption, ("action", "took", f"{start:.1f} s to {end:.1f} s"), rows)


def _framed(caption: str, head: tuple[str, ...], rows: list[Html]) -> Html:
    names = el("thead", el("tr", *(el("th", n, scope="col") for n in head)))
    inner = el("table", el("caption", caption, class_="unseen"), names, el("tbody", *rows), class_="plot")
    return el("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _span(span: Span, start: float, length: float) -> Html:
    left = min((span.start - start) / length * WIDTH, WIDTH - 2)
    width = max(2.0, (span.seconds if span.seconds is not None else length) / length * WIDTH)
    took = "going on" if span.seconds is None else _seconds(span.seconds)
    name = el("td", el("code", span.name), " ", el("span", span.words, class_="quiet"))
    return el("tr", name, el("td", took, class_="amount"), el("td", _svg(left, min(width, WIDTH - left), span.tone)))


def _bar(point: Point, most: float, unit: str) -> Html:
    words = f"{point.value:,.4g}" + (f" {unit}" if unit else "")
    bar = _svg(0.0, max(2.0, point.value / most * WIDTH), point.tone)
    return el("tr", el("td", point.label), el("td", words, class_="amount"), el("td", bar))


def _svg(left: float, width: float, tone: str) -> Html:
    rect = el("rect", x=f"{left:.1f}", y=2, width=f"{width:.1f}", height=10, rx=2, class_=tone)
    return el(
        "svg", rect, viewBox=f"0 0 {WIDTH:g} 14", preserveAspectRatio="none", aria_hidden="true", focusable="false"
    )


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
