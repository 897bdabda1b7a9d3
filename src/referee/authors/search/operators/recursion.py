"""What makes no progress: an argument that a recursive call passes on as it came, a collection that nothing fills."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators.operator import JUMPS, SIMPLE, Family, operator
from referee.authors.search.site import Site, Suggestion

_EMPTY = ("list", "set", "deque", "dict")
_FILLING = ("append", "add", "extend", "insert", "update", "appendleft", "push", "setdefault")
_USES = ("pop", "popleft", "remove", "discard")


@operator(Family.CALL, 0.6, ast.Call)
def passed_on(site: Site) -> Iterator[Suggestion]:
    """In a recursive call, an argument that is still the function's own parameter gets smaller."""
    node, function = site.node, site.scope.function
    if not isinstance(node, ast.Call) or function is None or _callee(node) != function.name:
        return
    for argument, parameter in zip(node.args, site.scope.parameters, strict=False):
        if not (isinstance(argument, ast.Name) and argument.id == parameter):
            continue
        if "indexed" in site.scope.roles.get(parameter, ()):
            yield site.replace(argument, f"{parameter}[1:]")
            yield site.replace(argument, f"{parameter}[:-1]", 0.7)
        counted = [n for n in site.scope.names if n not in site.scope.parameters]
        for other in [n for n in counted if site.scope.exchangeable(parameter, n)][:5]:
            yield site.replace(argument, f"{parameter} - {other}")


def _callee(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


@operator(Family.STATEMENT, 0.6, *SIMPLE, ast.If, ast.While)
def filled(site: Site) -> Iterator[Suggestion]:
    """A collection that starts empty and is read, but that nothing ever fills, is filled inside a loop."""
    if not (site.in_loop and site.whole and site.stmt is site.block[-1]) or isinstance(site.stmt, JUMPS):
        return
    for group, method in _never_filled(site):
        used = {n.id for n in ast.walk(_loop(site)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in [n for n in site.scope.names if n in used and n != group][:4]:
            yield site.after(f"{group}.{method}({name})")


def _loop(site: Site) -> ast.AST:
    return next(a for a in site.ancestors(site.stmt) if isinstance(a, ast.For | ast.AsyncFor | ast.While))


def _never_filled(site: Site) -> list[tuple[str, str]]:
    """Names of such collections, with the method that fills one."""
    made: dict[str, str] = {}
    for node in site.scope.own:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            call = isinstance(value, ast.Call) and not value.args and _callee(value) in _EMPTY
            if name in made:
                made[name] = ""  # assigned again: it may be filled there
            elif call or (isinstance(value, ast.List) and not value.elts):
                made[name] = "add" if isinstance(value, ast.Call) and _callee(value) == "set" else "append"
    for node in site.scope.own:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _FILLING:
                made.pop(name, None)
            case ast.AugAssign(target=ast.Name(id=name)):
                made.pop(name, None)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                made.pop(name, None)
            case _:
                pass
    read = {n.func.value.id for n in site.scope.own if isinstance(n, ast.Call) and _takes(n)}  # type: ignore[attr-defined]
    read |= {n.test.id for n in site.scope.own if isinstance(n, ast.While | ast.If) and isinstance(n.test, ast.Name)}
    read |= {
        c.id for n in site.scope.own if isinstance(n, ast.Compare) for c in n.comparators if isinstance(c, ast.Name)
    }
    return [(name, method) for name, method in made.items() if method and name in read]


def _takes(node: ast.Call) -> bool:
    func = node.func
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.attr in _USES


OPERATORS = (passed_on, filled)
