"""What a test's calls mean: a helper or a built-in function that is replaced is seen when it is called.

A replacement that puts itself back before the test ends is seen only at that moment. So calls of plain names in test
modules, and of a few modules that tests compare with, ask first whether the name still means what it did.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

from .territory import Territory
from .voice import report
from .walking import nodes, placed

NAMED = "callee"
_COMPARING = frozenset(("pytest", "math", "operator", "unittest"))
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BINDS = tuple(getattr(ast, n) for n in ("ExceptHandler", "MatchAs", "MatchStar") if hasattr(ast, n))


class Calls:
    """Sends what is called past `call`: names bound once, at the top of the module, and in assertions built-ins."""

    def __init__(self, tree: ast.Module, call: Callable[..., ast.expr]) -> None:
        self._call = call
        self._top = _bound_at_top(tree)
        self._elsewhere = _bound_elsewhere(tree)
        self.asked: set[str] = set()

    def before(self, node: ast.AST) -> None:
        """pytest keeps the parts of an assertion in names of its own."""
        if type(node) is not ast.Assign:
            return
        target = node.targets[0]
        asserted = isinstance(target, ast.Name) and target.id.startswith("@py_assert")
        if asserted and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            self._ask(node.value, node.value.func.id, hasattr(builtins, node.value.func.id))
        elif asserted and isinstance(node.value, ast.Attribute):
            node.value = self._asked(node.value, self._of_module(node.value))

    def after(self, node: ast.Call) -> None:
        """A call of a name, or of a name of a module."""
        if isinstance(node.func, ast.Name):
            self._ask(node, node.func.id, node.func.id in self._top)
        elif isinstance(node.func, ast.Attribute):
            node.func = self._asked(node.func, self._of_module(node.func))

    def _of_module(self, node: ast.Attribute) -> str:
        """The dotted name, if it is of a module that tests compare with."""
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        return f"{owner}.{node.attr}" if owner in _COMPARING and owner in self._top else ""

    def _ask(self, node: ast.Call, name: str, wanted: bool) -> None:
        node.func = self._asked(node.func, name if wanted else "")

    def _asked(self, node: ast.expr, name: str) -> ast.expr:
        if not name or name.partition(".")[0] in self._elsewhere:
            return node
        self.asked.add(name)
        return self._call(NAMED, node, node, ast.Constant(name, **placed(node)))


class Callees:
    """What the names that test modules call meant once these were collected."""

    def __init__(self, whose: Territory) -> None:
        self._whose = whose
        self._asked: dict[str, tuple[set[str], bool]] = {}
        self._known: dict[tuple[str, str], Any] = {}

    def remember(self, file: str, names: set[str], mocks: bool) -> None:
        """Which names a test module calls, and whether it deals in mocks. A file may hold the judge's tests as well."""
        known, before = self._asked.get(file, (set(), False))
        self._asked[file] = (known | names, mocks or before)

    def trusted(self, file: str) -> bool:
        """Whether this is a test's file that no patch can change."""
        return self._whose.test(file)

    def learn(self) -> None:
        """Take what they mean now."""
        for module in list(sys.modules.values()):
            space = getattr(module, "__dict__", {})
            file = space.get("__file__")
            if not isinstance(file, str) or file not in self._asked:
                continue
            for name in self._asked[file][0]:
                value = _meaning(space, name)
                if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
                    self._known[file, name] = value

    def checker(self) -> Callable[[Any, str], Any]:
        """A function that hands on what is called, and reports it if it is not what it was."""
        known, asked, whose, frame_of = self._known, self._asked, self._whose, sys._getframe
        relative, library, plain = whose.relative, whose.library, types.FunctionType

        def callee(value: Any, name: str) -> Any:
            file = frame_of(1).f_code.co_filename
            was = known.get((file, name))
            if was is None or value is was:
                return value
            code = getattr(value, "__code__", None) if isinstance(value, plain) else None
            mock = (type(value).__module__ or "").startswith("unittest.mock") and asked[file][1]
            # What a test itself puts in place, it may.
            if not mock and (code is None or not library(code.co_filename)):
                report("tamper", ["patched", f"{relative(file)}:{name}"])
                return was
            return value

        return callee


def _meaning(space: dict[str, Any], name: str) -> Any:
    """What a module means by a name, or by a dotted name of a module it imports."""
    owner, _, key = name.rpartition(".")
    if not owner:
        return space.get(key, vars(builtins).get(key))
    return vars(space[owner]).get(key) if isinstance(space.get(owner), types.ModuleType) else None


def _bound_at_top(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, _Function):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
    return {n for n in found if not n.startswith("@")}


def _bound_elsewhere(tree: ast.Module) -> set[str]:
    """Names that are bound in any other way: they may mean anything."""
    top = {id(n) for n in tree.body}
    found: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Global):
            found.update(node.names)
        elif isinstance(node, _Function) and id(node) not in top:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and id(node) not in top:
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, _BINDS) and node.name:
            found.add(node.name)
    return found
