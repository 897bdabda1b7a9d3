"""Functions in a file's text: put one back to an older release's, and take tests out."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a function stands: its first line (with decorators) and its last, from 1, and its text."""

    first: int
    last: int
    text: str
    alone: bool = False  # in its class, so that something must take its place


def functions(text: str) -> dict[str, Place]:
    """Every function by its qualified name; the nth of the same name is called `NAME#n`. Raises `SyntaxError`."""
    lines = text.splitlines(keepends=True)
    found: dict[str, Place] = {}
    for name, node, alone in _walk(ast.parse(text).body, "", False):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        last = node.end_lineno or node.lineno
        again = sum(n.partition("#")[0] == name for n in found)
        place = Place(first=first, last=last, text="".join(lines[first - 1 : last]), alone=alone)
        found[f"{name}#{again + 1}" if again else name] = place
    return found


def _walk(body: list[ast.stmt], prefix: str, in_class: bool) -> Iterator[tuple[str, _Function, bool]]:
    for node in body:
        if isinstance(node, _Function):
            yield f"{prefix}{node.name}", node, in_class and len(body) == 1
            yield from _walk(node.body, f"{prefix}{node.name}.", False)
        elif isinstance(node, ast.ClassDef):
            yield from _walk(node.body, f"{prefix}{node.name}.", True)
        elif isinstance(node, ast.If | ast.Try):
            yield from _walk([*node.body, *node.orelse], prefix, False)


def differing(old: str, new: str) -> Mapping[str, tuple[Place, Place]]:
    """The functions that both texts have and that differ, with where they are in the old and the new."""
    before, after = functions(old), functions(new)
    return {n: (before[n], p) for n, p in after.items() if n in before and before[n].text != p.text}


def put_back(old: str, new: str, name: str, added: int = -1) -> str | None:
    """`new` with the function `name` as it is in `old`; None unless exactly one that differs is meant.

    `name` may be qualified or not; of several, the one in which `added` lines were added is meant.
    """
    meant = {n: p for n, p in differing(old, new).items() if name in (n, n.partition("#")[0].rpartition(".")[2])}
    if len(meant) > 1:
        meant = {n: p for n, p in meant.items() if counted(p[0].text, p[1].text)[0] == added}
    if len(meant) != 1:
        return None
    [(before, after)] = meant.values()
    lines = new.splitlines(keepends=True)
    return "".join([*lines[: after.first - 1], before.text, *lines[after.last :]])


def counted(old: str, new: str) -> tuple[int, int, int]:
    """Lines added, lines removed, and in how many places."""
    matcher = difflib.SequenceMatcher(a=old.splitlines(), b=new.splitlines(), autojunk=False)
    changed = [(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
    return sum(b for _, b in changed), sum(a for a, _ in changed), len(changed)


def without(text: str, names: Collection[str]) -> str:
    """The text without the functions of these qualified names."""
    lines = text.splitlines(keepends=True)
    for name, place in functions(text).items():
        if name.partition("#")[0] not in names:
            continue
        indent = place.text[: len(place.text) - len(place.text.lstrip())]
        stand_in = f"{indent}pass\n" if place.alone else ""
        lines[place.first - 1 : place.last] = [stand_in, *[""] * (place.last - place.first)]
    return "".join(lines)
