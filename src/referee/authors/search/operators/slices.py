"""Slices and sequences: the wrong bounds, a slice too few, a missing copy, the wrong nesting."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.candidate import Splice
from referee.authors.search.operators.offsets import shifted
from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import ATOM
from referee.authors.search.site import Site, Suggestion


def _text(site: Site, node: ast.expr | None) -> str:
    return site.text(node) if node is not None else ""


def _slice(lower: str, upper: str, step: str) -> str:
    """Bounds as a formatter writes them: spaces around the colon when a bound is more than a name or number."""
    simple = all(p.replace("-", "", 1).replace(".", "").isalnum() or not p for p in (lower, upper, step))
    colon = ":" if simple else " : "
    text = f"{lower}{colon}{upper}" + (f"{colon}{step}" if step else "")
    return text.strip()


@operator(Family.SLICE, 0.55, ast.Slice)
def slice_bounds(site: Site) -> Iterator[Suggestion]:
    """`a[i:j]` becomes `a[i + 1:j]`, `a[i:]` and so on."""
    node = site.node
    assert isinstance(node, ast.Slice)
    lower, upper, step = (_text(site, n) for n in (node.lower, node.upper, node.step))
    lowers = [t for t, _ in shifted(node.lower, lower)] if node.lower else ["1"]
    uppers = [t for t, _ in shifted(node.upper, upper)] if node.upper else ["-1"]
    bounds = [(low, upper) for low in lowers] + [(lower, up) for up in uppers]
    bounds += [(lower, ""), ("", upper), (upper, lower), (upper, "")]
    if lower and upper:
        bounds.insert(0, (lower, f"{lower} + {upper}"))
    for name in site.scope.names[:6]:
        bounds += [(name, upper), (lower, name)]
    for low, up in dict.fromkeys(bounds):
        if (low, up) != (lower, upper):
            yield _bounds(site, node, _slice(low, up, step))
    for other in ("", "-1") if step else ():
        yield _bounds(site, node, _slice(lower, upper, other))


def _bounds(site: Site, node: ast.Slice, text: str) -> Suggestion:
    return Suggestion((Splice(*site.source.span(node), text),))


@operator(Family.SLICE, 0.38, ast.Name, ast.Attribute, ast.Call)
def sliced(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a[1:]`, `a[:-1]`, `a[::-1]` or `a[k:]`."""
    node = site.node
    assert isinstance(node, ast.Name | ast.Attribute | ast.Call)
    if not _sequence_place(site, node):
        return
    base = site.operand(node, ATOM)
    iterated = isinstance(site.parent, ast.For | ast.comprehension) and site.parent.iter is node
    for bounds in ("1:", ":-1", "::-1"):
        yield site.replace(node, f"{base}[{bounds}]", 1.3 if iterated else 0.8)
    for name in [n for n in site.scope.names if n != base][:6]:
        if iterated or isinstance(site.parent, ast.Return | ast.Call | ast.Assign):
            yield site.replace(node, f"{base}[{name}:]", 1.0 if iterated else 0.5)
            yield site.replace(node, f"{base}[:{name}]", 1.0 if iterated else 0.5)


@operator(Family.SLICE, 0.25, ast.Name, ast.Attribute)
def indexed(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a[0]`, `a[-1]` or `a[i]`."""
    node = site.node
    assert isinstance(node, ast.Name | ast.Attribute)
    if _sequence_place(site, node):
        base = site.text(node)
        for index in ("0", "-1", "1", *(n for n in site.scope.names[:4] if n != base)):
            yield site.replace(node, f"{base}[{index}]")


def _sequence_place(site: Site, node: ast.expr) -> bool:
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(node, ast.Name) and node.id not in site.scope.names:
        return False
    if isinstance(site.parent, ast.Call):
        return site.parent.func is not node
    return not isinstance(site.parent, ast.Attribute | ast.Subscript | ast.Expr)


@operator(Family.SLICE, 0.3, ast.Subscript)
def index_dropped(site: Site) -> Iterator[Suggestion]:
    """`a[i]` and `a[1:]` become `a`."""
    node = site.node
    assert isinstance(node, ast.Subscript)
    if isinstance(node.ctx, ast.Load):
        yield site.replace(node, site.text(node.value), 1.2 if isinstance(node.slice, ast.Slice) else 0.8)


@operator(Family.SLICE, 0.4, ast.Name, ast.Attribute, ast.Subscript)
def copied(site: Site) -> Iterator[Suggestion]:
    """A value that is stored, returned or walked through is copied first: `list(a)`, `a.copy()`, `dict(a)`."""
    node = site.node
    assert isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    if not isinstance(node.ctx, ast.Load) or (isinstance(node, ast.Name) and node.id not in site.scope.names):
        return
    stored = isinstance(site.parent, ast.Assign) and site.parent.value is node
    walked = isinstance(site.parent, ast.For) and site.parent.iter is node
    appended = isinstance(site.stmt, ast.Expr) and isinstance(site.parent, ast.Call) and site.parent.func is not node
    if stored or walked or appended:
        text = site.text(node)
        for copy in (f"list({text})", f"{text}.copy()", f"dict({text})", f"reversed({text})"):
            yield site.replace(node, copy)


@operator(Family.SLICE, 0.5, ast.List, ast.ListComp, ast.BinOp, ast.Name, ast.Call)
def nested(site: Site) -> Iterator[Suggestion]:
    """A returned, assigned or appended `a` becomes `[a]` or `(a,)`, or gains a list of the scope: `b + a`."""
    node = site.node
    assert isinstance(node, ast.expr)
    if not isinstance(site.parent, ast.Assign | ast.Return) or site.parent.value is not node:
        return
    text = site.text(node)
    if isinstance(node, ast.List | ast.Name):
        yield site.replace(node, f"[{text}]")
    if isinstance(node, ast.List | ast.ListComp | ast.BinOp | ast.Call):
        names = [n for n in reversed(site.scope.names) if n != text][:8]
        for name in names:
            yield site.replace(node, f"{name} + {text}", 0.8)
        for name in names:
            yield site.replace(node, f"{text} + {name}", 0.8)


OPERATORS = (
    slice_bounds,
    sliced,
    indexed,
    index_dropped,
    copied,
    nested,
)
