"""The components. Every text in them is raw: whoever renders one neutralises and escapes it."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from referee.domain.report import Usd
from referee.domain.value import Value


class Tone(StrEnum):
    """What a thing means for the reader; never told by colour alone."""

    PLAIN = "plain"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    QUIET = "quiet"


class Cell(Value):
    """One cell of a table; `href` is a path on the page that shows it."""

    text: str
    tone: Tone = Tone.PLAIN
    href: str = ""
    code: bool = False


class Table(Value):
    """Rows under named columns."""

    kind: Literal["table"] = "table"
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = ()


class Meter(Value):
    """One axis: `share` of the limit from 0 to 1, and the amounts in words."""

    name: str
    share: float
    words: str


class BudgetMeter(Value):
    """The four axes of a budget and the pressure, which is the worst of them; what models and tools took apart."""

    kind: Literal["budget_meter"] = "budget_meter"
    meters: tuple[Meter, ...]
    pressure: float = 0.0
    model_cost_usd: Usd = Decimal(0)
    tool_seconds: float = 0.0


class FindingItem(Value):
    """One objection, and where."""

    check: str
    title: str
    place: str = ""
    error: str = ""
    message: str = ""
    expected: str = ""
    actual: str = ""
    detail: tuple[str, ...] = ()
    tone: Tone = Tone.BAD


class Findings(Value):
    """Objections, the first of `total`."""

    kind: Literal["findings"] = "findings"
    items: tuple[FindingItem, ...] = ()
    total: int = 0


class RoundItem(Value):
    """One step: who proposed, what was touched, how far it came. `how` says the result in words."""

    step: int
    author: str
    how: str
    tone: Tone
    layer: str = ""
    touched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    candidates: int = 0
    fingerprint: str = ""
    duration_ms: int = 0


class Timeline(Value):
    """Steps in order; of `total`, when only a part is shown."""

    kind: Literal["timeline"] = "timeline"
    rounds: tuple[RoundItem, ...] = ()
    total: int = 0


class Side(Value):
    """One row of a hunk: the old line and the new one. None where a side has no line, numbers from 1."""

    old_number: int | None = None
    old: str | None = None
    new_number: int | None = None
    new: str | None = None

    @property
    def same(self) -> bool:
        """Whether nothing changed in it."""
        return self.old is not None and self.new is not None and self.old == self.new


class Hunk(Value):
    """Changed lines with those around them, both sides beside each other; `heading` is the function they are in."""

    heading: str = ""
    sides: tuple[Side, ...] = ()


class FileDiff(Value):
    """The change of one file; `note` says what lines cannot: created, deleted, renamed, binary, a mode.

    `plain` are the lines that are no part of a change. They must be shown: whoever signs may have to read them.
    """

    path: str
    hunks: tuple[Hunk, ...] = ()
    note: str = ""
    plain: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0


class DiffReview(Value):
    """A diff to read. `digest` is the SHA-256 of exactly the text that it was made from; a signature covers it."""

    kind: Literal["diff_review"] = "diff_review"
    files: tuple[FileDiff, ...] = ()
    digest: str = ""
    cut: int = 0  # lines that are not shown


class Approval(Value):
    """Something that waits for a person. `demands` is what an answer must be: `answer` or a signature by `ssh`.

    `digest` is what a signature covers; `commands` are what to type where a page's word does not count.
    """

    kind: Literal["approval"] = "approval"
    id: str
    run_id: str
    sort: str
    summary: str
    shown: str = ""
    digest: str = ""
    expires_at: str = ""
    status: str = "open"
    demands: str = "answer"
    commands: tuple[str, ...] = ()


class Span(Value):
    """One action on the run's clock, in seconds from its beginning; `seconds` is None while it goes on."""

    name: str
    start: float
    seconds: float | None
    tone: Tone = Tone.PLAIN
    words: str = ""


class Point(Value):
    """A value at a place on an axis."""

    label: str
    value: float
    tone: Tone = Tone.PLAIN


class Plot(Value):
    """Points as bars, or spans as a waterfall."""

    kind: Literal["plot"] = "plot"
    caption: str
    unit: str = ""
    points: tuple[Point, ...] = ()
    spans: tuple[Span, ...] = ()


Component = Annotated[
    Table | BudgetMeter | Findings | Timeline | DiffReview | Approval | Plot, Field(discriminator="kind")
]
