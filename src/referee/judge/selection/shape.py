"""A Python file cut into parts that can change by themselves."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping

from referee.domain.value import Value

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Modules of every Python that do nothing when they are imported but be there.
_ALWAYS_THERE = (
    "abc", "bisect", "codecs", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum",
    "errno", "functools", "hashlib", "heapq", "io", "inspect", "itertools", "json", "math", "numbers", "operator", "os",
    "re", "string", "struct", "sys", "textwrap", "time", "types", "typing", "warnings",
)  # fmt: skip


class Shape(Value):
    """Digests of a file's parts.

    `bodies` are of outermost functions by qualified name, without what is evaluated when they are defined. `free` are
    plain functions of the module itself, by name, with the digest of their signature, and `constants` its names for
    literals and for common modules: these can come and go without anything else running. `rest` is everything else.
    """

    bodies: Mapping[str, str]
    free: Mapping[str, str]
    constants: Mapping[str, str]
    rest: str


class Difference(Value):
    """How two shapes differ: functions with other bodies; names that came, went or stand for another value; or more.

    `gone` are those of `names` that only one of them has.
    """

    bodies: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    whole: bool = False


def shape_of(source: bytes) -> Shape | None:
    """The parts of a file; None if it cannot be read as Python."""
    tree = parsed(source)
    if tree is None:
        return None
    bodies: dict[str, str] = {}
    for name, node in functions(tree):
        bodies[name] = _digest(bodies.get(name, ""), *map(_dump, _body(node)))
    lazy = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
    bound = list(_bound(tree.body))
    free: dict[str, str] = {}
    constants: dict[str, str] = {}
    rest: list[ast.stmt] = []
    for statement in tree.body:
        name = _constant(statement)
        if name and bound.count(name) == 1:
            constants[name] = _digest(_dump(statement))
        elif isinstance(statement, _FUNCTIONS) and bound.count(statement.name) == 1 and _plain(statement, lazy):
            free[statement.name] = _digest(_dump(_stub(statement)))
        else:
            rest.append(statement)
    return Shape(bodies=bodies, free=free, constants=constants, rest=_digest(*(_dump(_stubbed(s)) for s in rest)))


def difference(before: Shape | None, after: Shape | None) -> Difference:
    """What has to be looked at. A file that is not there, or cannot be read, differs wholly."""
    if before is None or after is None or before.rest != after.rest:
        return Difference(whole=True)
    if any(before.free[n] != after.free[n] for n in before.free.keys() & after.free.keys()):
        return Difference(whole=True)
    shared = before.bodies.keys() & after.bodies.keys()
    gone = (before.free.keys() ^ after.free.keys()) | (before.constants.keys() ^ after.constants.keys())
    both = before.constants.keys() & after.constants.keys()
    values = {n for n in both if before.constants[n] != after.constants[n]}
    return Difference(
        bodies=frozenset(f for f in shared if before.bodies[f] != after.bodies[f]) | (before.bodies.keys() & gone),
        names=frozenset(gone | values),
        gone=frozenset(gone),
    )


def parsed(source: bytes) -> ast.Module | None:
    """The tree of a file; None if it is not Python, or too deep."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Every function that lies in no other one, with its qualified name. Conditional ones share a name."""
    waiting: list[tuple[str, ast.AST]] = [("", node) for node in reversed(tree.body)]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            yield prefix + node.name, node
            continue
        inner = f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix
        waiting += [(inner, child) for child in reversed(list(ast.iter_child_nodes(node)))]


def first_line(node: Function) -> int:
    """Where the interpreter says that a function begins: at its first decorator."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def literal(node: ast.expr | None) -> bool:
    """Whether an expression is made of constants only."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(literal, node.elts))
    if isinstance(node, ast.Dict):
        return all(k is not None and literal(k) for k in node.keys) and all(map(literal, node.values))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _constant(node: ast.stmt) -> str:
    """The name a statement gives a literal or a harmless module; empty for others, and for names that Python reads."""
    if isinstance(node, ast.Import) and len(node.names) == 1 and node.names[0].name in _ALWAYS_THERE:
        return node.names[0].asname or node.names[0].name
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not literal(node.value):
        return ""
    target = node.targets[0]
    return target.id if isinstance(target, ast.Name) and not target.id.startswith("__") else ""


def _plain(node: Function, lazy: bool) -> bool:
    """Whether defining a function evaluates nothing that could fail or be seen from outside."""
    a = node.args
    every = (*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x))
    notes = [x for x in (node.returns, *(p.annotation for p in every)) if x is not None]
    defaults = [d for d in (*a.defaults, *a.kw_defaults) if d is not None]
    bare = not node.decorator_list and not node.name.startswith("__") and not getattr(node, "type_params", ())
    return bare and all(map(literal, defaults)) and (lazy or not notes)


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names that a module's statements bind, as often as they do, wherever in the module."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                yield node.name
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).partition(".")[0]


def _documented(node: Function) -> bool:
    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _body(node: Function) -> list[ast.stmt]:
    return node.body[1:] if _documented(node) else node.body


def _stub(node: Function) -> ast.AST:
    """A function without its body, as far as running the definition goes."""
    kept = {f: getattr(node, f) for f in node._fields if f != "body"}
    return type(node)(**kept, body=node.body[:1] if _documented(node) else [])


def _stubbed(node: ast.AST) -> ast.AST:
    if isinstance(node, _FUNCTIONS):
        return _stub(node)

    def within(value: object) -> object:
        if isinstance(value, list):
            return [within(v) for v in value]
        return _stubbed(value) if isinstance(value, (ast.stmt, ast.excepthandler, ast.match_case)) else value

    return type(node)(**{f: within(getattr(node, f, None)) for f in node._fields})


def _dump(node: ast.AST) -> str:
    return ast.dump(node)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
