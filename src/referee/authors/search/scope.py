"""What a function can name: the redundant ingredients that repairs are made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from referee.authors.search.regions import FUNCTIONS, Function
from referee.authors.search.source import Source

_SHORT = 60
_IGNORED = frozenset({"self", "cls", "_"})
_INGREDIENTS = (ast.Subscript, ast.Attribute, ast.Call, ast.BinOp)


class Scope:
    """One function, or module-level code (`function` None), seen from inside. Names come in order of appearance."""

    def __init__(self, source: Source, function: Function | None, root: ast.AST, outer: Scope | None) -> None:
        self.source, self.function, self.outer, self._root = source, function, outer, root

    @cached_property
    def own(self) -> tuple[ast.AST, ...]:
        """The nodes of this function that are not inside a nested one, in order of the text."""
        if self.function is None:
            return tuple(_own([self._root]))
        args = self.function.args
        defaults = [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
        return tuple(_own([*defaults, *self.function.body]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Parameters and assigned names, then those of enclosing functions."""
        found: dict[str, None] = {}
        if self.function:
            found.update(dict.fromkeys(_parameters(self.function.args)))
        for node in self.own:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found[node.name] = None
            elif isinstance(node, ast.arg):
                found[node.arg] = None
        if self.outer:
            found.update(dict.fromkeys(self.outer.names))
        return tuple(n for n in found if n not in _IGNORED)

    @cached_property
    def roles(self) -> dict[str, frozenset[str]]:
        """How each name is used: `called`, `indexed` or `counted`."""
        found: dict[str, set[str]] = {}
        for node in self.own:
            for role, used in _roles(node):
                if isinstance(used, ast.Name):
                    found.setdefault(used.id, set()).add(role)
        return {name: frozenset(roles) for name, roles in found.items()}

    def exchangeable(self, a: str, b: str) -> bool:
        """Whether the two names are used alike, as far as this function tells."""
        mine, others = self.roles.get(a, frozenset()), self.roles.get(b, frozenset())
        return not mine or not others or bool(mine & others)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The function's parameters except `self` and `cls`."""
        args = _parameters(self.function.args) if self.function else ()
        return tuple(n for n in args if n not in _IGNORED)

    @cached_property
    def receiver(self) -> str:
        """`self` or `cls` when this is a method, else empty."""
        first = next(iter(_parameters(self.function.args)), "") if self.function else ""
        if first in ("self", "cls"):
            return first
        return self.outer.receiver if self.outer else ""

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """The texts of the function's tests, each once."""
        tests = (n.test for n in self.own if isinstance(n, ast.If | ast.While | ast.IfExp))
        return self._texts(tests)

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Short subscripts, attributes, calls and operations, each once."""
        callees = {id(n.func) for n in self.own if isinstance(n, ast.Call)}
        found = (n for n in self.own if isinstance(n, _INGREDIENTS) and id(n) not in callees)
        return self._texts(found)

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """Simple one-line statements that could be repeated elsewhere."""
        kinds = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Return)
        lines = (n for n in self.own if isinstance(n, kinds) and n.lineno == n.end_lineno)
        return tuple(n for n in lines if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)))

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The texts of the function's numeric constants, each once."""
        found = (n for n in self.own if isinstance(n, ast.Constant) and type(n.value) in (int, float))
        return self._texts(found)

    def _texts(self, nodes: Iterable[ast.expr]) -> tuple[str, ...]:
        texts = (self.source.segment(n) for n in nodes if n.lineno == n.end_lineno)
        return tuple(dict.fromkeys(t for t in texts if len(t) <= _SHORT))


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Preorder, without nested definitions, annotations and the insides of formatted strings."""
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.JoinedStr)):
            continue
        yield node
        yield from _own(c for c in ast.iter_child_nodes(node) if c is not getattr(node, "annotation", None))


def _roles(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Call(func=func, args=args):
            yield "called", func
            if isinstance(func, ast.Name) and func.id == "len" and args:
                yield "indexed", args[0]
        case ast.Subscript(value=value):
            yield "indexed", value
        case ast.For(iter=walked) | ast.comprehension(iter=walked):
            yield "indexed", walked
        case ast.BinOp(left=left, right=right):
            yield from (("counted", left), ("counted", right))
        case ast.Compare(left=left, ops=ops, comparators=others) if not isinstance(ops[0], ast.In | ast.NotIn):
            yield from (("counted", side) for side in (left, *others))
        case ast.AugAssign(target=target):
            yield "counted", target
        case _:
            pass


def _parameters(args: ast.arguments) -> tuple[str, ...]:
    every = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return tuple(a.arg for a in every if a is not None)
