"""Markup that is safe by construction: every text is neutralised and escaped on its way in."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from referee.render.plain import plain


class Html(str):
    """Text that is markup already; only this module and those that build on it make any."""

    __slots__ = ()


Child: TypeAlias = "str | Html | Iterable[Child] | None"
Attribute = str | int | float | bool | None
_VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "col", "rect", "line"})


def el(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` and `for_` lose the underscore, others become hyphens; None and False leave one out."""
    written = "".join(_attribute(n, v) for n, v in attributes.items() if v is not None and v is not False)
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Child) -> Html:
    """Children one after the other, texts escaped."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, str):
        return Html(safe(children))
    return Html("".join(join(c) for c in children))


def safe(text: str) -> str:
    """`text` as the content of an element or the value of an attribute."""
    return escape(plain(text), quote=True)


def _attribute(name: str, value: Attribute) -> str:
    hyphened = name.rstrip("_").replace("_", "-")
    return f" {hyphened}" if value is True else f' {hyphened}="{safe(str(value))}"'
