"""One file in every state that a user can leave it in: where it comes from, what was done to it, how it is staged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from exact_oracle import git

ORIGINS = ("tracked", "untracked", "ignored")
CHANGES = ("edit", "create", "delete", "rename", "mode", "symlink", "type")
STAGINGS = ("unstaged", "staged", "partly", "intent", "assumed", "skipped")
LINES = [b"line %d" % i for i in range(20)]


class Style(NamedTuple):
    """How a setting names files and ends lines."""

    prefix: bytes = b"s-"
    newline: bytes = b"\n"
    suffix: bytes = b".txt"

    def text(self, *, top: bytes = b"line 0", bottom: bytes = b"line 19") -> bytes:
        """A text with room for two hunks."""
        return self.newline.join([top, *LINES[1:-1], bottom, b""])


class Subject(NamedTuple):
    """A cell of the matrix. `path` is where it was at first, `place` where it is after the user's change."""

    origin: str
    change: str
    staging: str
    style: Style

    @property
    def path(self) -> bytes:
        """Where it was at first."""
        name = f"{self.origin}-{self.change}-{self.staging}".encode()
        return b"subjects/" + self.style.prefix + name + (b".ign" if self.origin == "ignored" else self.style.suffix)

    @property
    def place(self) -> bytes:
        """Where it is now."""
        return self.path.replace(b"-rename-", b"-Rename-") if self.change == "rename" else self.path

    @property
    def inner(self) -> bytes:
        """What a folder in its place holds."""
        return self.path + b"/inner" + (b".ign" if self.origin == "ignored" else b"")

    @property
    def first(self) -> bool:
        """Whether it was there before the change."""
        return self.origin == "tracked" or self.change != "create"

    @property
    def flagged(self) -> bool:
        """Whether its index entry tells git not to look at the file."""
        return self.staging in ("assumed", "skipped")


def subjects(style: Style) -> list[Subject]:
    """The whole matrix of one setting."""
    return [Subject(*cell, style) for cell in product(ORIGINS, CHANGES, STAGINGS)]


def write(root: bytes, path: bytes, data: bytes, mode: int = 0o644) -> None:
    """A file with its folders."""
    whole = os.path.join(root, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "wb") as file:
        file.write(data)
    os.chmod(whole, mode)


def arrange(root: bytes, cells: list[Subject]) -> None:
    """Bring every subject into its state; the tracked ones are there already, as committed."""
    for cell in cells:
        if cell.first and cell.origin != "tracked":
            write(root, cell.path, cell.style.text())
    _stage(root, [c.path for c in cells if c.flagged and c.first and c.change != "create"])
    lost = [c.path for c in cells if c.origin == "tracked" and c.change == "create"]
    intended = [c for c in cells if c.staging == "intent"]
    _index(root, "--force-remove", lost + [c.path for c in intended if c.origin == "tracked"])
    _intend(root, [c.path for c in intended if c.change == "delete"])
    for cell in cells:
        _change(root, cell)
    _stage(root, [p for c in cells if c.staging in ("staged", "partly") for p in (c.path, c.place, c.inner)])
    _stage(root, [c.path for c in cells if c.flagged and c.change == "create"])
    _intend(root, [p for c in intended for p in {c.place, c.inner} if _is_file(root, p)])
    _index(root, "--assume-unchanged", [c.path for c in cells if c.staging == "assumed"])
    _index(root, "--skip-worktree", [c.path for c in cells if c.staging == "skipped"])
    for cell in cells:
        if cell.staging == "partly" or (cell.flagged and cell.change == "create"):
            _touch_up(root, cell)


def _change(root: bytes, cell: Subject) -> None:
    whole, text = os.path.join(root, cell.path), cell.style.text
    if cell.change == "edit":
        write(root, cell.path, text(top=b"edited"), 0o640)
    elif cell.change == "create":
        write(root, cell.path, text(top=b"created"))
    elif cell.change == "delete":
        os.unlink(whole)
    elif cell.change == "rename":
        os.rename(whole, os.path.join(root, cell.place))
    elif cell.change == "mode":
        os.chmod(whole, 0o755)
    elif cell.change == "symlink":
        os.unlink(whole)
        os.symlink(b"../shared.txt", whole)
    else:
        os.unlink(whole)
        write(root, cell.inner, text())


def _touch_up(root: bytes, cell: Subject) -> None:
    """What the user does after staging."""
    whole = os.path.join(root, cell.place)
    if cell.change == "symlink":
        os.unlink(whole)
        os.symlink(b"../elsewhere", whole)
    elif cell.change == "type":
        write(root, cell.inner, cell.style.text(bottom=b"later"))
    else:
        mode = 0o755 if cell.change == "mode" else 0o644
        write(root, cell.place, cell.style.text(top=b"edited", bottom=b"later"), mode)


def _stage(root: bytes, paths: Iterable[bytes]) -> None:
    chosen = list(dict.fromkeys(paths))
    there = [p for p in chosen if _is_file(root, p)]
    _index(root, "--force-remove", [p for p in chosen if p not in there])
    _index(root, "--add", there)


def _intend(root: bytes, paths: list[bytes]) -> None:
    if paths:
        how = ("--literal-pathspecs", "add", "-N", "-f", "--pathspec-from-file=-", "--pathspec-file-nul")
        git(root, *how, stdin=b"\0".join(paths))


def _index(root: bytes, how: str, paths: list[bytes]) -> None:
    if paths:
        git(root, "update-index", how, "-z", "--stdin", stdin=b"\0".join(paths) + b"\0")


def _is_file(root: bytes, path: bytes) -> bool:
    whole = os.path.join(root, path)
    return os.path.lexists(whole) and (os.path.islink(whole) or not os.path.isdir(whole))
