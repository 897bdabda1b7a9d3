"""Exceptions: the wrong kind caught or raised, or one that is swallowed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.site import Site, Suggestion


@operator(Family.EXCEPTION, 0.4, ast.ExceptHandler)
def caught(site: Site) -> Iterator[Suggestion]:
    """`except A` becomes `except B` or `except (A, B)`; kinds the failing tests name come first."""
    node = site.node
    assert isinstance(node, ast.ExceptHandler)
    if node.type is None:
        return
    own = [site.text(e) for e in (node.type.elts if isinstance(node.type, ast.Tuple) else [node.type])]
    for kind in _kinds(site):
        if kind not in own:
            yield site.replace(node.type, f"({', '.join((*own, kind))})")
            yield site.replace(node.type, kind, 0.8)


@operator(Family.EXCEPTION, 0.45, ast.Raise)
def raised(site: Site) -> Iterator[Suggestion]:
    """`raise A(…)` becomes `raise B(…)`; kinds the failing tests expect come first."""
    node = site.node
    assert isinstance(node, ast.Raise)
    named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if named is None:
        return
    own = site.text(named)
    for kind in _kinds(site):
        if kind != own:
            yield site.replace(named, kind)


@operator(Family.EXCEPTION, 0.3, ast.Raise)
def returned_instead(site: Site) -> Iterator[Suggestion]:
    """`raise …` becomes `return None` and the like."""
    if site.scope.function is not None:
        for text in ("return None", "return False", "return []", "raise"):
            yield site.rewrite(text)


@operator(Family.EXCEPTION, 0.4, ast.Return, ast.Pass)
def raised_instead(site: Site) -> Iterator[Suggestion]:
    """Where a failing test expects an exception, an empty return raises it."""
    node = site.node
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        return
    for kind in list(site.ingredients.tests.exceptions)[:3]:
        yield site.rewrite(f"raise {kind}")
    if isinstance(node, ast.Pass):
        yield site.rewrite("raise", 0.6)


def _kinds(site: Site) -> list[str]:
    found = site.ingredients
    known = dict.fromkeys((*found.tests.exceptions, *found.exceptions[:1], *found.here.exceptions, *found.exceptions))
    return [k for k in known if k.replace(".", "").isidentifier()][:12]


OPERATORS = (
    caught,
    raised,
    returned_instead,
    raised_instead,
)
