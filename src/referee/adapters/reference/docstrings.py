"""Docstrings in the style they are written in: Google, NumPy or Sphinx."""

from __future__ import annotations

from typing import Any

import griffe

from referee.domain.documented import Item, Section

_PROSE = (griffe.DocstringSectionKind.text, griffe.DocstringSectionKind.admonition)
_SINGLE = (griffe.DocstringSectionKind.deprecated,)


def sections(thing: Any) -> tuple[Section, ...]:
    """The parts of a thing's docstring; prose alone if it has no sections of any style."""
    style, _ = griffe.infer_docstring_style(thing.docstring)
    parsed = griffe.parse(thing.docstring, style) if style else [griffe.DocstringSectionText(thing.docstring.value)]
    return tuple(_section(part) for part in parsed)


def _section(part: Any) -> Section:
    kind, title, value = part.kind, part.title or "", part.value
    if kind is griffe.DocstringSectionKind.text:
        return Section(kind="text", title=title, text=value)
    if kind is griffe.DocstringSectionKind.examples:
        return Section(kind="examples", title=title, items=tuple(Item(name=k.value, text=t) for k, t in value))
    if kind in (*_PROSE, *_SINGLE):
        return Section(kind=kind.value, title=title, text=f"{value.annotation}: {value.description}".strip(": "))
    return Section(kind=kind.value, title=title, items=tuple(_item(row) for row in value))


def _item(row: Any) -> Item:
    annotation = getattr(row, "annotation", None)
    return Item(name=getattr(row, "name", "") or "", annotation=str(annotation or ""), text=row.description)
