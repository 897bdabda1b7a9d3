"""A candidate repair: a few splices into one file, and what it says about itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from referee.authors.search.source import Source

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace the characters from `start` to `end` (exclusive) by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Splices that do not overlap, sorted by place. `score` orders candidates, larger first."""

    path: str
    function: str
    line: int
    operator: str
    splices: tuple[Splice, ...]
    score: float

    @property
    def size(self) -> int:
        """Characters taken away plus characters put in."""
        return sum(s.end - s.start + len(s.text) for s in self.splices)

    def apply(self, text: str) -> str:
        """`text` with the splices made."""
        return splice(text, self.splices)

    def overlaps(self, other: Candidate) -> bool:
        """Whether both change the same place, so that they cannot be combined."""
        if self.path != other.path:
            return False
        return any(a.start <= b.end and b.start <= a.end for a in self.splices for b in other.splices)

    def describe(self, source: Source) -> str:
        """One line a person can judge: what becomes what, and where."""
        changes = "; ".join(_change(source.text, s) for s in self.splices)
        where = f" in {self.function}()" if self.function else ""
        return f"{changes}{where}, {self.path} line {self.line}"


def splice(text: str, splices: Iterable[Splice], origin: int = 0) -> str:
    """`text`, which begins at offset `origin` of its file, with the splices made."""
    parts: list[str] = []
    at = 0
    for s in splices:
        parts += (text[at : s.start - origin], s.text)
        at = s.end - origin
    return "".join((*parts, text[at:]))


def _change(text: str, made: Splice) -> str:
    old, new = _short(text[made.start : made.end]), _short(made.text)
    if not old:
        return f"`{new}` is added"
    return f"`{old}` becomes `{new}`" if new else f"`{old}` is removed"


def _short(code: str) -> str:
    flat = " ".join(code.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"
