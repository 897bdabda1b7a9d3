"""A diff to read: both sides beside each other, with syntax colours, and one above the other where it is narrow."""

from __future__ import annotations

from referee.domain.component import DiffReview, FileDiff, Hunk
from referee.render.code import marked
from referee.render.elements import Html, el, join


def review(given: DiffReview) -> Html:
    """Every file's change, and the digest of what is shown."""
    if not given.files:
        return el("p", "No change.", class_="quiet")
    parts = [_file(f) for f in given.files]
    if given.cut:
        parts.append(el("p", f"{given.cut:,} more lines are not shown; `referee show RUN --format diff` has all."))
    if given.digest:
        parts.append(el("p", "SHA-256 of this diff: ", el("code", given.digest), class_="quiet digest"))
    return join(parts)


def _file(file: FileDiff) -> Html:
    counts = [
        el("span", f"+{file.added}", class_="said good", aria_label=f"{file.added} lines added"),
        " ",
        el("span", f"−{file.removed}", class_="said bad", aria_label=f"{file.removed} lines removed"),
    ]
    note = el("span", f" {file.note}", class_="quiet") if file.note else None
    head = el("h3", el("code", file.path), note, " ", counts) if file.path or file.hunks or file.note else None
    plain = el("pre", "\n".join(file.plain), tabindex=0) if file.plain else None
    if not file.hunks:
        return el("section", head, plain, class_="file")
    bodies = [_hunk(h, file.path) for h in file.hunks]
    caption = el("caption", f"Changes of {file.path}", class_="unseen")
    names = ("old line", "before", "new line", "after")
    columns = el("thead", el("tr", *(el("th", n, scope="col") for n in names)), class_="unseen")
    widths = el("colgroup", *(el("col", class_=n) for n in ("number", "code", "number", "code")))
    sides = el("table", caption, widths, columns, *bodies, class_="sides")
    body = el("div", sides, class_="scroll", tabindex=0, role="region", aria_label=f"Changes of {file.path}")
    return el("section", head, body, plain, class_="file")


def _hunk(hunk: Hunk, path: str) -> Html:
    old = iter(marked([s.old for s in hunk.sides if s.old is not None], path))
    new = iter(marked([s.new for s in hunk.sides if s.new is not None], path))
    first = hunk.sides[0] if hunk.sides else None
    at = first.new_number or first.old_number if first else 0
    place = f"line {at}" + (f", in {hunk.heading}" if hunk.heading else "")
    rows = [el("tr", el("th", place, colspan=4, scope="rowgroup"), class_="place")]
    for side in hunk.sides:
        left = _line(side.old_number, next(old) if side.old is not None else None, "" if side.same else "gone")
        right = _line(side.new_number, next(new) if side.new is not None else None, "" if side.same else "come")
        rows.append(el("tr", left, right, class_="same" if side.same else "changed"))
    return el("tbody", *rows)


def _line(number: int | None, text: Html | None, sort: str) -> Html:
    """A line's number and its code; a removed or added one says so to who cannot see colours."""
    if text is None:
        return join([el("td", class_="number none"), el("td", class_="code none")])
    tag = {"gone": "del", "come": "ins"}.get(sort)
    inner = el(tag, text) if tag else el("span", text)
    return join(
        [el("td", str(number), class_=f"number {sort}".strip()), el("td", inner, class_=f"code {sort}".strip())]
    )
