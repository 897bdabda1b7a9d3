"""Who speaks of a file's names: functions, and modules outside any function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from referee.domain.value import Value
from referee.judge.selection.shape import functions

_COMPUTED = frozenset(("globals", "vars", "dir", "getmembers", "__dict__", "eval", "exec", "locals"))
_BY_NAME = frozenset(("getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"))


class Mentions(Value):
    """Functions as (path, qualified name), and files that mention something while they are imported."""

    functions: frozenset[tuple[str, str]] = frozenset()
    files: frozenset[str] = frozenset()


class Wanted(Value):
    """`names` of the module at `path`; `gone` are those of them that exist only before or only after the change."""

    path: str
    names: frozenset[str]
    gone: frozenset[str] = frozenset()


def mentions(trees: Mapping[str, ast.Module | None], wanted: Wanted) -> Mentions:
    """Who uses one of the names, or computes the names it uses.

    A file that merely imports a name that still exists, or lists it in `__all__`, uses it only where it says so again.
    """
    names = wanted.names
    while more := {n for t in trees.values() if t for n in _renamed(t, names)} - names:
        names |= more
    found: set[tuple[str, str]] = set()
    files: set[str] = set()
    for path, tree in trees.items():
        if tree is None:
            files.add(path)
            continue
        search = _Search(names, wanted.gone, names if path == wanted.path else _imported(tree, names))
        inside: set[int] = set()
        for name, node in functions(tree):
            body = [n for statement in node.body for n in ast.walk(statement)]
            inside.update(map(id, body))
            if any(map(search.speaks, body)):
                found.add((path, name))
        listed = {id(n) for s in tree.body if _lists(s) and not wanted.gone for n in ast.walk(s)}
        if any(search.speaks(n) for n in ast.walk(tree) if id(n) not in inside and id(n) not in listed):
            files.add(path)
    return Mentions(functions=frozenset(found), files=frozenset(files))


class _Search:
    """`names` count wherever they may be an attribute, `visible` ones also alone."""

    def __init__(self, names: frozenset[str], gone: frozenset[str], visible: frozenset[str]) -> None:
        self._names, self._gone, self._visible = names, gone, visible

    def speaks(self, node: ast.AST) -> bool:
        """Whether this very node does."""
        if isinstance(node, ast.Name):
            return node.id in _COMPUTED or (node.id in self._visible and isinstance(node.ctx, ast.Load))
        if isinstance(node, ast.Attribute):
            return node.attr in self._names or node.attr in _COMPUTED
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and node.value.rpartition(".")[2] in self._names
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BY_NAME:
            return any(not isinstance(a, ast.Constant) for a in node.args[1:2])
        return isinstance(node, ast.alias) and (node.name == "*" or node.name in self._gone)


def _imported(tree: ast.Module, names: frozenset[str]) -> frozenset[str]:
    """Which of the names a file has taken from another one."""
    taken = [a for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names]
    if any(a.name == "*" for a in taken):
        return names
    return frozenset(a.asname or a.name for a in taken if a.name in names)


def _renamed(tree: ast.Module, names: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (a.asname for a in node.names if a.asname and a.name in names)


def _lists(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)
