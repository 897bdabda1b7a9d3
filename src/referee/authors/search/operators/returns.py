"""Returns and guards: the wrong result, a missing return, an edge case nobody looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import DISJUNCTION
from referee.authors.search.site import Site, Suggestion

_GUARDED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.If, ast.For, ast.While, ast.With, ast.Raise)
_EMPTY = ("None", "[]", "0", "False", '""', "True", "{}", "()")


@operator(Family.RETURN, 0.45, ast.Return)
def returned_name(site: Site) -> Iterator[Suggestion]:
    """`return a` becomes `return b`."""
    node = site.node
    assert isinstance(node, ast.Return)
    own = site.text(node.value) if node.value else ""
    for name in site.scope.names:
        if name != own:
            yield site.rewrite(f"return {name}")


@operator(Family.RETURN, 0.3, ast.Return)
def returned_empty(site: Site) -> Iterator[Suggestion]:
    """`return a` becomes `return None`, `return []` and so on."""
    node = site.node
    assert isinstance(node, ast.Return)
    own = site.text(node.value) if node.value else ""
    for text in _shown_first(site, *_EMPTY):
        if text != own:
            yield site.rewrite(f"return {text}", 1.3 if own in _EMPTY else 0.7)


@operator(Family.RETURN, 0.3, ast.Return)
def returned_test(site: Site) -> Iterator[Suggestion]:
    """`return True` becomes `return not a`, `return a == 0` and so on."""
    node = site.node
    assert isinstance(node, ast.Return)
    boolean = isinstance(node.value, ast.Compare | ast.BoolOp) or getattr(node.value, "value", None) in (True, False)
    for name in site.scope.names:
        for text in (f"not {name}", f"{name} == 0", f"{name} is not None", f"bool({name})"):
            yield site.rewrite(f"return {text}", 1.0 if boolean else 0.4)


@operator(Family.RETURN, 0.3, ast.Return)
def negated_result(site: Site) -> Iterator[Suggestion]:
    """`return a` becomes `return not a`."""
    node = site.node
    assert isinstance(node, ast.Return)
    if isinstance(node.value, ast.Call | ast.BoolOp | ast.Name | ast.Attribute):
        yield site.replace(node.value, f"not {site.operand(node.value, DISJUNCTION + 3)}")


@operator(Family.RETURN, 0.3, ast.Return, ast.Assign)
def fallback(site: Site) -> Iterator[Suggestion]:
    """`return a` becomes `return a or []`; `x = a` becomes `x = a or b`."""
    node = site.node
    assert isinstance(node, ast.Return | ast.Assign)
    if not isinstance(node.value, ast.Call | ast.Name | ast.Attribute | ast.Subscript):
        return
    text = site.text(node.value)
    for other in ("[]", "0", '""', "{}", "None", *site.scope.names[:4]):
        if other != text:
            yield site.replace(node.value, f"{text} or {other}", 0.8)


@operator(Family.RETURN, 0.6, ast.Assign, ast.Expr, ast.AugAssign, ast.For, ast.If, ast.While, ast.With)
def missing_return(site: Site) -> Iterator[Suggestion]:
    """A function that ends without a `return` gets one."""
    function = site.scope.function
    if function is None or site.stmt is not function.body[-1] or not site.source.alone(site.stmt):
        return
    stmt = site.stmt
    if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
        yield site.after(f"return {stmt.targets[0].id}", weight=1.2)
    names = list(site.scope.names)
    for name in (*reversed(names), *((site.scope.receiver,) if site.scope.receiver else ())):
        yield site.after(f"return {name}", weight=0.9)
    for text in ("False", "True", "0", "[]"):
        yield site.after(f"return {text}", weight=0.5)


@operator(Family.RETURN, 0.4, ast.Expr, ast.Assign, ast.If, ast.For)
def missing_branch_return(site: Site) -> Iterator[Suggestion]:
    """A branch that ends without leaving the function returns a name of the scope."""
    function = site.scope.function
    if function is None or not site.whole or site.stmt is not site.block[-1] or site.block is function.body:
        return
    for name in site.scope.names[:8]:
        yield site.after(f"return {name}")


@operator(Family.GUARD, 0.45, *_GUARDED)
def guard_return(site: Site) -> Iterator[Suggestion]:
    """`if not a: return …` is put in front of a statement that uses `a`."""
    if not _guardable(site):
        return
    for name in _used(site):
        for value in _shown_first(site, "None", "[]", name, "0", "False", '""', "True"):
            yield _guard(site, f"not {name}", f"return {value}" if value != "None" else "return", 0.9)
        yield _guard(site, f"{name} is None", "return", 0.9)
        if site.in_loop:
            yield _guard(site, f"not {name}", "continue", 0.8)
            yield _guard(site, f"{name} is None", "continue", 0.6)


@operator(Family.GUARD, 0.4, ast.List, ast.Attribute, ast.Subscript, ast.Call)
def guarded_value(site: Site) -> Iterator[Suggestion]:
    """`[a]` becomes `[a] if a else []`; `a.b` becomes `a.b if a else None` where it is assigned or returned."""
    node = site.node
    assert isinstance(node, ast.expr)
    if not isinstance(site.parent, ast.Assign | ast.Return) or site.parent.value is not node:
        return
    text = site.text(node)
    if isinstance(node, ast.List):
        if len(node.elts) == 1 and isinstance(node.elts[0], ast.Name | ast.Attribute):
            yield site.replace(node, f"{text} if {site.text(node.elts[0])} else []")
        return
    base: ast.expr = node.func if isinstance(node, ast.Call) else node
    if isinstance(base, ast.Attribute | ast.Subscript) and isinstance(base.value, ast.Name | ast.Attribute):
        for value in _shown_first(site, "None", "[]", "0", '""', "False"):
            yield site.replace(node, f"{text} if {site.text(base.value)} else {value}", 0.8)


@operator(Family.GUARD, 0.35, *_GUARDED)
def guard_default(site: Site) -> Iterator[Suggestion]:
    """`if a is None: a = …` is put in front of the first statement that uses the parameter `a`."""
    if _guardable(site) and site.scope.function and site.block is site.scope.function.body:
        for name in [n for n in _used(site) if n in site.scope.parameters]:
            for value in ("[]", "{}", "0", '""'):
                yield _guard(site, f"{name} is None", f"{name} = {value}")


@operator(Family.GUARD, 0.5, *_GUARDED)
def guard_raise(site: Site) -> Iterator[Suggestion]:
    """Where a failing test expects an exception, it is raised for the odd values of a parameter."""
    expected = site.ingredients.tests.exceptions
    if not expected or not _guardable(site):
        return
    names = [n for n in _used(site) if n in site.scope.parameters] or list(site.scope.parameters)
    for kind in list(expected)[:2]:
        for name in names[:3]:
            for test in (f"not {name}", f"{name} < 0", f"{name} <= 0", f"{name} is None"):
                yield _guard(site, test, f'raise {kind}(f"unexpected {name}: {{{name}!r}}")')


@operator(Family.GUARD, 0.35, ast.For, ast.If)
def guard_skip(site: Site) -> Iterator[Suggestion]:
    """A loop passes over what a condition of the function, or an empty value, describes."""
    node = site.node
    if not isinstance(node, ast.For) or not node.body or not site.source.alone(node.body[0]):
        return
    first = node.body[0]
    inner = Site(
        region=site.region,
        node=first,
        stmt=first,
        scope=site.scope,
        ingredients=site.ingredients,
        parents=site.parents,
    )
    targets = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
    for test in (*(f"not {t}" for t in targets), *(f"{t} is None" for t in targets), *site.scope.conditions[:4]):
        yield _guard(inner, test, "continue")


def _shown_first(site: Site, *values: str) -> list[str]:
    """The values that the failing tests write down, before the others."""
    return sorted(values, key=lambda v: v not in site.ingredients.tests.plain)


def _guardable(site: Site) -> bool:
    inside = site.scope.function is not None and site.stmt is not site.scope.function
    return inside and site.whole


def _used(site: Site) -> list[str]:
    """Names of the scope that the statement's first line reads, in order, at most four."""
    header: list[ast.AST] = [site.stmt]
    for field in ("test", "iter", "items"):
        part = getattr(site.stmt, field, None)
        if part is not None:
            header = part if isinstance(part, list) else [part]
    found = (n.id for h in header for n in ast.walk(h) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [n for n in dict.fromkeys(found) if n in site.scope.names][:4]


def _guard(site: Site, test: str, then: str, weight: float = 1.0) -> Suggestion:
    return site.before(f"if {test}:", f"{site.unit}{then}", weight=weight)


OPERATORS = (
    returned_name,
    returned_empty,
    returned_test,
    negated_result,
    fallback,
    missing_return,
    missing_branch_return,
    guard_return,
    guarded_value,
    guard_default,
    guard_raise,
    guard_skip,
)
