"""Statements that are missing: one of the function again, one like it, a step of a counter, a jump."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import permutations

from referee.authors.search.ingredients import alike
from referee.authors.search.operators.operator import BLOCKS, JUMPS, SIMPLE, Family, operator
from referee.authors.search.site import Site, Suggestion


@operator(Family.STATEMENT, 0.3, *SIMPLE, *BLOCKS)
def repeated(site: Site) -> Iterator[Suggestion]:
    """A simple statement of the function is repeated before this one, or at the end of its block."""
    if not (site.in_function and site.whole):
        return
    for text in _copies(site):
        yield from _both_sides(site, text)


def _copies(site: Site) -> list[str]:
    texts = [site.text(s) for s in site.scope.statements if s is not site.stmt]
    return list(dict.fromkeys(t for t in texts if len(t) <= 80))


def _both_sides(site: Site, text: str, weight: float = 1.0) -> Iterator[Suggestion]:
    yield site.before(text, weight=weight)
    if site.stmt is site.block[-1] and not isinstance(site.stmt, JUMPS):
        yield site.after(text, weight=weight)


@operator(Family.STATEMENT, 0.28, *SIMPLE, *BLOCKS)
def repeated_renamed(site: Site) -> Iterator[Suggestion]:
    """A call statement of the function is repeated here with one other name."""
    if not (site.in_function and site.whole):
        return
    names = site.scope.names
    for s in site.scope.statements:
        if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)):
            continue
        text = site.text(s)
        used = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in names}
        for old in sorted(used):
            for new in [n for n in names if n != old][:8]:
                yield from _both_sides(site, re.sub(rf"\b{re.escape(old)}\b", new, text))


@operator(Family.STATEMENT, 0.34, ast.Expr)
def sibling_call(site: Site) -> Iterator[Suggestion]:
    """Beside `self.f(a)`, another method of the same object is called alike; those the function does not call first."""
    call = site.node.value if isinstance(site.node, ast.Expr) else None
    if not (site.in_function and site.whole and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    func, here = call.func, site.ingredients.here
    base, text = site.text(func.value), site.text(call)
    known = [*here.attributes.get(base, ()), *(here.functions if base == site.scope.receiver else ())]
    called = {n.attr for n in site.scope.own if isinstance(n, ast.Attribute)}
    head = site.source.span(func)[1] - site.source.span(call)[0]
    for other in alike(func.attr, [k for k in known if k not in called and not k.startswith("__")], limit=8):
        made = f"{text[: head - len(func.attr)]}{other}{text[head:]}"
        yield site.after(made)
        yield site.before(made, weight=0.9)


@operator(Family.STATEMENT, 0.26, *SIMPLE, *BLOCKS)
def effect_added(site: Site) -> Iterator[Suggestion]:
    """A method that code or tests call without arguments, such as `flush`, is called on a name the statement uses."""
    if not (site.in_function and site.whole) or isinstance(site.stmt, JUMPS):
        return
    found = site.ingredients
    methods = dict.fromkeys((*found.tests.bare, *found.here.bare, *found.near.bare))
    used = {n.id for n in ast.walk(site.stmt) if isinstance(n, ast.Name)}
    for name in [n for n in site.scope.names if n in used][:3]:
        for method in list(methods)[:6]:
            yield site.after(f"{name}.{method}()")


@operator(Family.STATEMENT, 0.32, *SIMPLE, *BLOCKS)
def remembered(site: Site) -> Iterator[Suggestion]:
    """Where membership in a collection is tested, the thing tested is put into it."""
    if not (site.in_function and site.whole):
        return
    for node in site.scope.own:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            group = node.comparators[0]
            if isinstance(group, ast.Name) and group.id in site.scope.names:
                for call in (f"add({site.text(node.left)})", f"append({site.text(node.left)})"):
                    yield from _both_sides(site, f"{group.id}.{call}")


@operator(Family.STATEMENT, 0.25, *SIMPLE, *BLOCKS)
def assigned(site: Site) -> Iterator[Suggestion]:
    """One name of the scope is assigned to another."""
    if site.in_function and site.whole:
        for a, b in permutations(site.scope.names[:6], 2):
            yield from _both_sides(site, f"{a} = {b}")


@operator(Family.STATEMENT, 0.25, *SIMPLE, ast.If)
def advanced(site: Site) -> Iterator[Suggestion]:
    """Inside a loop, a counter moves: `i += 1`."""
    if site.in_function and site.whole and site.in_loop and site.stmt is site.block[-1]:
        for name in site.scope.names[:8]:
            for change in ("+= 1", "-= 1"):
                yield from _both_sides(site, f"{name} {change}")


@operator(Family.STATEMENT, 0.3, *SIMPLE, ast.If, ast.Pass)
def jump_added(site: Site) -> Iterator[Suggestion]:
    """A `break` or `continue` is added inside a loop."""
    if site.in_loop and site.whole and site.stmt is site.block[-1] and not isinstance(site.stmt, JUMPS):
        for word in ("break", "continue"):
            yield site.after(word)


OPERATORS = (
    repeated,
    repeated_renamed,
    sibling_call,
    effect_added,
    remembered,
    assigned,
    advanced,
    jump_added,
)
