"""How a run stands, in a word and a tone; times and durations for people."""

from __future__ import annotations

from referee.domain.component import Tone
from referee.domain.report import RunSummary
from referee.render.elements import Html, el
from referee.render.parts import pill

_STATES = {
    "running": ("running", Tone.PLAIN),
    "waiting": ("waits for you", Tone.WARN),
    "stopped": ("stopped", Tone.WARN),
}


def standing(summary: RunSummary) -> Html:
    """The state of a run as a pill."""
    return pill(*state(summary))


def state(summary: RunSummary) -> tuple[str, Tone]:
    """The state of a run in words, and what they mean."""
    if summary.status in _STATES:
        return _STATES[summary.status]
    if summary.solved:
        return "solved", Tone.GOOD
    return (summary.stop_reason.value.replace("_", " ") if summary.stop_reason else "refused"), Tone.BAD


def moment(at: str) -> Html:
    """A time of day, UTC, to the minute; the rest for who asks."""
    return el("time", at[:16].replace("T", " "), datetime=at, title=f"{at} UTC")


def duration(seconds: float) -> str:
    """Seconds in the unit that fits."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def pager(path: str, page: int, last: int, query: str = "") -> Html | None:
    """Links to the pages before and after; pages count from 1."""
    if last <= 1:
        return None

    def link(number: int, words: str, name: str) -> Html:
        if not 1 <= number <= last or number == page:
            return el("span", words, class_="quiet")
        return el("a", words, href=f"{path}?page={number}{query}", rel=name)

    return el(
        "nav",
        link(1, "First", "first"),
        link(page - 1, "Previous", "prev"),
        el("span", f"page {page} of {last}"),
        link(page + 1, "Next", "next"),
        link(last, "Last", "last"),
        class_="pager",
        aria_label="Pages",
    )


def number(text: str | None, default: int = 1, most: int = 10_000_000) -> int:
    """A number from an address, within its bounds."""
    return min(most, max(1, int(text))) if text and text.isdecimal() and len(text) < 10 else default
