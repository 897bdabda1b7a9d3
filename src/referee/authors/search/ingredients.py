"""Names, attributes and constants found in a file, in its neighbours and in the failing tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

BUILTIN_EXCEPTIONS = (
    "ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "Exception", "ZeroDivisionError",
    "StopIteration", "OSError", "LookupError",
)  # fmt: skip


BLAMED = 2.0


@dataclass(slots=True)
class Gathered:
    """What some code mentions, each in order of first appearance (dicts serve as ordered sets)."""

    names: dict[str, None] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    attributes: dict[str, dict[str, None]] = field(default_factory=dict)  # text of the base -> attributes
    keywords: dict[str, dict[str, None]] = field(default_factory=dict)  # callee's last name -> "key=value" texts
    numbers: dict[str, None] = field(default_factory=dict)
    strings: dict[str, None] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)  # strings that are looked up or stored under
    exceptions: dict[str, None] = field(default_factory=dict)
    unary: dict[str, None] = field(default_factory=dict)  # functions that are called with one argument
    bare: dict[str, None] = field(default_factory=dict)  # methods that are called without any, for their effect
    plain: dict[str, None] = field(default_factory=dict)  # texts of None, True, False, 0, "" and empty displays

    def every_attribute(self) -> tuple[str, ...]:
        """All attribute names, whatever they are attributes of."""
        return tuple(dict.fromkeys(a for found in self.attributes.values() for a in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """What repairs of one file may be made of, nearest first: the file, its neighbours, the failing tests."""

    here: Gathered
    near: Gathered = field(default_factory=Gathered)
    tests: Gathered = field(default_factory=Gathered)
    exceptions: tuple[str, ...] = BUILTIN_EXCEPTIONS
    blamed: frozenset[str] = frozenset()  # names and keys that the failures say do not exist

    def blame(self, name: str) -> float:
        """How much likelier a change of `name` is, given what the failures say."""
        return BLAMED if name in self.blamed else 1.0


def gather(trees: Iterable[ast.AST]) -> Gathered:
    """Everything of interest that the trees mention."""
    found = Gathered()
    for tree in trees:
        for node in ast.walk(tree):
            _note(node, found)
    return found


def merged(parts: Iterable[Gathered]) -> Gathered:
    """Several files' ingredients as one, in order."""
    found = Gathered()
    for part in parts:
        for one in ("names", "functions", "numbers", "strings", "keys", "exceptions", "unary", "bare", "plain"):
            getattr(found, one).update(getattr(part, one))
        for group in ("attributes", "keywords"):
            for name, members in getattr(part, group).items():
                getattr(found, group).setdefault(name, {}).update(members)
    return found


def _note(node: ast.AST, found: Gathered) -> None:
    match node:
        case ast.Name(id=name):
            found.names[name] = None
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            found.functions[name] = None
        case ast.ImportFrom(names=names):
            found.functions.update(dict.fromkeys(a.asname or a.name for a in names))
        case ast.Attribute(value=base, attr=attr):
            found.attributes.setdefault(ast.unparse(base), {})[attr] = None
        case ast.Call():
            _note_call(node, found)
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            found.keys[key] = None
        case ast.Dict(keys=keys):
            found.keys.update(dict.fromkeys(ast.literal_eval(k) for k in keys if k is not None and _is_string(k)))
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr), args=[], keywords=[])):
            found.bare[attr] = None
        case ast.Constant(value=value):
            _note_constant(value, found)
        case _:
            _note_other(node, found)


def _note_other(node: ast.AST, found: Gathered) -> None:
    match node:
        case ast.ExceptHandler() | ast.Raise():
            _note_exception(node, found)
        case ast.List(elts=[]) | ast.Tuple(elts=[]):
            found.plain[ast.unparse(node)] = None
        case _:
            pass


def _note_constant(value: object, found: Gathered) -> None:
    if not value or value is True:
        found.plain['""' if value == "" else repr(value)] = None
    if type(value) in (int, float):
        found.numbers[repr(value)] = None
    elif isinstance(value, str) and len(value) <= 40 and "\n" not in value:
        found.strings[value] = None


def _note_exception(node: ast.ExceptHandler | ast.Raise, found: Gathered) -> None:
    kind = node.type if isinstance(node, ast.ExceptHandler) else node.exc
    if isinstance(kind, ast.Call):
        kind = kind.func
    if kind is not None:
        found.exceptions[ast.unparse(kind)] = None


def _note_call(node: ast.Call, found: Gathered) -> None:
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    texts = (f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords if k.arg)
    found.keywords.setdefault(name, {}).update(dict.fromkeys(t for t in texts if len(t) <= 40))
    if isinstance(func, ast.Name) and len(node.args) == 1 and not node.keywords:
        found.unary[name] = None
    if name in ("get", "pop", "setdefault") and node.args and _is_string(node.args[0]):
        found.keys[ast.literal_eval(node.args[0])] = None


def _is_string(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def expected_exceptions(tree: ast.AST) -> tuple[str, ...]:
    """Exceptions that tests say must be raised."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
            first = node.args[0]
            if node.func.attr in ("raises", "assertRaises", "assertRaisesRegex") and isinstance(first, ast.Name):
                found[first.id] = None
    return tuple(found)


@lru_cache(maxsize=20_000)
def likeness(a: str, b: str) -> float:
    """How alike two names or texts are, 0 to 1."""
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def alike(name: str, others: Iterable[str], *, at_least: float = 0.0, limit: int = 10) -> tuple[str, ...]:
    """The `others` most like `name` first; ties keep their order, `name` itself is left out."""
    scored = [(likeness(name, o), o) for o in dict.fromkeys(others) if o != name]
    kept = sorted((s for s in scored if s[0] >= at_least), key=lambda s: -s[0])
    return tuple(o for _, o in kept[:limit])
