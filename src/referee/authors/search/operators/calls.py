"""Calls: arguments swapped, missing or superfluous; a call too many or too few around a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from referee.authors.search.candidate import Splice
from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.precedence import ATOM
from referee.authors.search.site import Site, Suggestion

_WRAPPERS = ("str", "int", "len", "list", "sorted", "abs", "set", "float", "tuple", "reversed", "repr", "round", "sum")
_METHODS = ("lower", "strip", "items", "copy", "upper", "values", "split", "rstrip", "keys")
_VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)
_PLACES = (
    ast.Call, ast.Return, ast.BinOp, ast.Assign, ast.Compare, ast.For, ast.comprehension, ast.Tuple, ast.keyword,
    ast.FormattedValue,
)  # fmt: skip


def _name(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


@operator(Family.CALL, 0.85, ast.Call)
def argument_order(site: Site) -> Iterator[Suggestion]:
    """`f(a, b)` becomes `f(b, a)`."""
    node = site.node
    assert isinstance(node, ast.Call)
    for a, b in combinations(node.args[:5], 2):
        if site.text(a) != site.text(b):
            yield site.exchange(a, b)
    for x, y in combinations(node.keywords[:5], 2):
        if x.arg and y.arg and site.text(x.value) != site.text(y.value):
            yield site.exchange(x.value, y.value, 0.6)


@operator(Family.CALL, 0.6, ast.Tuple, ast.List)
def element_order(site: Site) -> Iterator[Suggestion]:
    """`(a, b)` becomes `(b, a)`."""
    node = site.node
    assert isinstance(node, ast.Tuple | ast.List)
    for a, b in zip(node.elts[:5], node.elts[1:6], strict=False):
        if site.text(a) != site.text(b):
            yield site.exchange(a, b)


@operator(Family.CALL, 0.55, ast.Call)
def unwrapped(site: Site) -> Iterator[Suggestion]:
    """`f(a)` becomes `a`; `a.f()` becomes `a`."""
    node = site.node
    assert isinstance(node, ast.Call)
    if isinstance(site.parent, ast.Expr):
        return
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield site.replace(node, site.text(node.args[0]), 1.0 if not node.keywords else 0.6)
    if isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        yield site.replace(node, site.text(node.func.value), 0.8)


@operator(Family.CALL, 0.35, ast.Call)
def fewer_arguments(site: Site) -> Iterator[Suggestion]:
    """`f(a, b)` becomes `f(a)`."""
    node = site.node
    assert isinstance(node, ast.Call)
    every: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    for n, dropped in enumerate(every):
        if len(every) == 1:
            start, end = site.source.span(dropped)
        elif n:
            start, end = site.source.span(every[n - 1])[1], site.source.span(dropped)[1]
        else:
            start, end = site.source.span(dropped)[0], site.source.span(every[1])[0]
        yield Suggestion((Splice(start, end, ""),), 1.0 if len(every) > 1 else 0.5)


@operator(Family.CALL, 0.4, ast.Call)
def keyword_argument(site: Site) -> Iterator[Suggestion]:
    """A call gains a keyword argument that the same callee gets elsewhere, or that built-ins know."""
    node = site.node
    assert isinstance(node, ast.Call)
    given = {k.arg for k in node.keywords}
    name, found = _name(node), site.ingredients
    built_in = {"sorted": ("reverse=True",), "sort": ("reverse=True",), "max": ("default=0", "default=None")}
    built_in["min"] = built_in["max"]
    sources = (found.here, found.near, found.tests)
    known = dict.fromkeys([t for s in sources for t in s.keywords.get(name, ())] + list(built_in.get(name, ())))
    for text in list(known)[:8]:
        if text.split("=")[0] not in given:
            yield _appended(site, node, text)


@operator(Family.CALL, 0.3, ast.Call)
def more_arguments(site: Site) -> Iterator[Suggestion]:
    """`f(a)` becomes `f(a, b)` for a name of the scope."""
    node = site.node
    assert isinstance(node, ast.Call)
    used = {site.text(a) for a in node.args}
    if _name(node) in site.ingredients.here.functions or isinstance(node.func, ast.Attribute):
        for name in [n for n in site.scope.names if n not in used][:6]:
            if not node.keywords:
                yield _appended(site, node, name)
            yield _appended(site, node, f"{name}={name}", 0.5)


def _appended(site: Site, node: ast.Call, text: str, weight: float = 1.0) -> Suggestion:
    every: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    if every:
        at = max(site.source.span(a)[1] for a in every)
        return Suggestion((Splice(at, at, f", {text}"),), weight)
    at = site.source.span(node)[1] - 1
    return Suggestion((Splice(at, at, text),), weight)


@operator(Family.CALL, 0.22, *_VALUES)
def wrapped(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `str(a)`, `len(a)`, `helper(a)` and the like; what this function calls with one argument first."""
    node = site.node
    assert isinstance(node, ast.expr)
    text = site.text(node)
    if _value(site, node):
        near = _called_with_one(site)
        for name in dict.fromkeys((*near, *_WRAPPERS[:6], *_locals(site), *_WRAPPERS[6:])):
            if not text.startswith(f"{name}(") and not _is_argument_of(site, name):
                yield site.replace(node, f"{name}({text})", 1.6 if name in near else 1.0)


def _called_with_one(site: Site) -> list[str]:
    """Functions that this function calls with one argument, those that raise or only look left out."""
    calls = (n for n in site.scope.own if isinstance(n, ast.Call) and len(n.args) == 1 and not n.keywords)
    names = (n.func.id for n in calls if isinstance(n.func, ast.Name))
    return [n for n in dict.fromkeys(names) if not n.endswith(("Error", "Exception", "Warning"))][:4]


def _is_argument_of(site: Site, name: str) -> bool:
    parent = site.parent
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == name


@operator(Family.STRING, 0.25, *_VALUES)
def method_added(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a.strip()`, `a.lower()` and the like; methods the file calls already come first."""
    node = site.node
    assert isinstance(node, ast.expr)
    if _value(site, node):
        text, base = site.text(node), site.operand(node, ATOM)
        used = site.ingredients.here.keywords
        for method in sorted(_METHODS, key=lambda m: m not in used):
            if not text.endswith(f".{method}()"):
                yield site.replace(node, f"{base}.{method}()")


def _locals(site: Site) -> list[str]:
    """Functions of the file that the failing tests do not call themselves."""
    here, tested = site.ingredients.here, site.ingredients.tests.names
    own = [f for f in here.functions if f.islower() and f not in tested][:4]
    return [*own, *[f for f in here.unary if f not in tested and f not in _WRAPPERS and f[:1].islower()][:4]]


def _value(site: Site, node: ast.expr) -> bool:
    loaded = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    called = isinstance(site.parent, ast.Call) and site.parent.func is node
    known = not isinstance(node, ast.Name) or node.id in site.scope.names
    short = len(site.text(node)) <= 60
    return loaded and known and not called and short and isinstance(site.parent, _PLACES)


@operator(Family.CALL, 0.35, ast.Subscript)
def get_instead(site: Site) -> Iterator[Suggestion]:
    """`d[k]` becomes `d.get(k)` and `d.get(k, 0)`."""
    node = site.node
    assert isinstance(node, ast.Subscript)
    if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        base, key = site.text(node.value), site.text(node.slice)
        for default in ("", ", 0", ", []", ', ""'):
            yield site.replace(node, f"{base}.get({key}{default})")


@operator(Family.CALL, 0.5, ast.Call)
def default_value(site: Site) -> Iterator[Suggestion]:
    """`d.get(k)` becomes `d.get(k, 0)`; `d.pop(k)` becomes `d.pop(k, None)`; another default is tried."""
    node = site.node
    assert isinstance(node, ast.Call)
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("get", "pop", "setdefault"):
        return
    for text in ("0", "None", "[]", '""', "{}", "False", *site.scope.names[:4]):
        if len(node.args) == 1:
            yield _appended(site, node, text)
        elif len(node.args) == 2 and site.text(node.args[1]) != text:
            yield site.replace(node.args[1], text)


@operator(Family.CALL, 0.4, ast.Call, ast.BinOp, ast.Name, ast.Subscript)
def bounded(site: Site) -> Iterator[Suggestion]:
    """An assigned or returned `b` becomes `max(a, b)`, `min(a, b)` or `max(0, b)`."""
    node = site.node
    assert isinstance(node, ast.expr)
    if not isinstance(site.parent, ast.Assign | ast.Return) or site.parent.value is not node:
        return
    text, others = site.text(node), ["0"] if not isinstance(node, ast.Name) else []
    if isinstance(site.parent, ast.Assign) and isinstance(site.parent.targets[0], ast.Name | ast.Subscript):
        others.insert(0, site.text(site.parent.targets[0]))
    for other in (*others, *(n for n in site.scope.parameters if n != text)):
        for name in ("max", "min"):
            yield site.replace(node, f"{name}({other}, {text})")


@operator(Family.CALL, 0.3, ast.Await, ast.Call)
def awaited(site: Site) -> Iterator[Suggestion]:
    """`f()` becomes `await f()` in a coroutine, and the other way round."""
    node = site.node
    if isinstance(node, ast.Await):
        yield site.replace(node, site.text(node.value))
    elif isinstance(site.scope.function, ast.AsyncFunctionDef) and not isinstance(site.parent, ast.Await):
        assert isinstance(node, ast.Call)
        yield site.replace(node, f"await {site.text(node)}")


OPERATORS = (
    argument_order,
    element_order,
    unwrapped,
    fewer_arguments,
    keyword_argument,
    more_arguments,
    wrapped,
    method_added,
    get_instead,
    default_value,
    bounded,
    awaited,
)
