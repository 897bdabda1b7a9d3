"""From trees to changes: what differs between the tree a record is of and the tree that is judged."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from referee.domain.patch import Patch
from referee.judge.layout import Layout
from referee.judge.selection.imports import Imports
from referee.judge.selection.mentions import mentions
from referee.judge.selection.reached import Reached, digest
from referee.judge.selection.rules import Change, Code
from referee.judge.selection.shape import Difference, difference, parsed, shape_of

Read = Callable[[str], bytes | None]


class Tree:
    """The files of one tree, and of what a patch makes of it; read when asked for."""

    def __init__(self, paths: Sequence[str], read: Read, patch: Patch) -> None:
        self._read, self._paths = read, paths
        self._after = {c.path: c.after.data if c.after is not None else None for c in patch.changes}
        self.touched = frozenset(self._after)

    def before(self, path: str) -> bytes | None:
        """A file as it was; None if there was none."""
        return self._read(path)

    def after(self, path: str) -> bytes | None:
        """A file as the patch leaves it; None if there is none."""
        return self._after[path] if path in self._after else self._read(path)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path of either."""
        return tuple(dict.fromkeys((*self._paths, *self._after)))


def code_of(tree: Tree, layout: Layout, plugins: Iterable[str] = ()) -> Code:
    """What the text of the code says; it is parsed once, when first asked for."""
    latest: dict[str, ast.Module | None] = {}
    made: list[Imports] = []

    def imports() -> Imports:
        if not made:
            versions: dict[str, list[ast.Module | None]] = {}
            for path in [p for p in tree.paths if p.endswith(".py")]:
                sources = [tree.after(path), *([tree.before(path)] if path in tree.touched else [])]
                versions[path] = [parsed(s) for s in sources if s is not None]
                if sources[0] is not None:
                    latest[path] = versions[path][0]
            made.append(Imports(versions, layout))
        return made[0]

    def trees() -> Mapping[str, ast.Module | None]:
        imports()
        return latest

    return Code(
        reaching=lambda paths: imports().reaching(paths),
        mentions=lambda wanted: mentions(trees(), wanted),
        tests=frozenset(layout.tests),
        plugins=frozenset(plugins),
    )


def changes_of(tree: Tree, base: str, record: Reached | None) -> tuple[Change, ...]:
    """What differs from the tree of the record; without one, all that the patch touches, wholly.

    `base` names the tree that the patch is for: if the record is of the same, only the patch is looked at.
    """
    if record is None:
        whole = Difference(whole=True)
        return tuple(Change(path=p, python=whole if p.endswith(".py") else None) for p in sorted(tree.touched))
    places = tree.touched if record.tree == base else {*tree.paths, *record.files}
    return tuple(change for path in sorted(places) if (change := _change(tree, path, record)) is not None)


def _change(tree: Tree, path: str, record: Reached) -> Change | None:
    data = tree.after(path)
    was, now = record.files.get(path), None if data is None else digest(data)
    if was == now:
        return None
    there = was is not None and now is not None
    if not path.endswith(".py"):
        return Change(path=path, there=there)
    how = difference(record.shapes.get(path), shape_of(data) if data is not None else None)
    return Change(path=path, python=how, there=there)
