"""A repository of the matrix with every subject in its state, and what must hold of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from exact_oracle import Picture, git, picture, status
from exact_settings import Setting
from exact_subjects import arrange, subjects

from referee.adapters.git import GitWorkspace
from referee.adapters.git.names import decode, encode


class Ground:
    """A repository of the matrix, arranged."""

    def __init__(self, place: bytes, setting: Setting) -> None:
        self.setting = setting
        self.place = place
        self.root = setting.make(place)
        self.cells = subjects(setting.style)
        arrange(self.root, self.cells)
        setting.finish(self.root)
        os.sync()
        status(self.root)

    def seen(self) -> tuple[Picture, list[bytes]]:
        """Every byte of the place and what git says."""
        return picture(self.place), status(self.root)

    def unlike(self, workspace: GitWorkspace, tree: str) -> list[str]:
        """Where a snapshot is not what is on disk and in the index or not ignored, byte for byte."""
        listed = git(self.root, "ls-files", "-z", "-c", "-o", "--exclude-standard").split(b"\0")[:-1]
        kinds = {p: kind_at(os.path.join(self.root, p)) for p in listed}
        left_out = {p for p, _ in self.setting.beside}  # nested repositories, and what is too large
        there = {p for p, kind in kinds.items() if kind in ("file", "link")} - left_out
        taken = {encode(p) for p in workspace.paths(tree)}
        wrong = [f"{p!r} is missing" for p in there - taken]
        for path in taken - left_out:
            whole = os.path.join(self.root, path)
            same = _read(whole), bool(os.lstat(whole).st_mode & 0o100) and not os.path.islink(whole)
            if same != (workspace.read(tree, decode(path)), workspace.executable(tree, decode(path))):
                wrong.append(f"{path!r} is another")
        return wrong

    def within(self, paths: Iterable[bytes]) -> list[bytes]:
        """Paths of the repository as the picture names them."""
        prefix = os.path.relpath(self.root, self.place)
        return [os.path.normpath(os.path.join(prefix, p)) for p in paths]


def _read(whole: bytes) -> bytes | None:
    if os.path.islink(whole):
        return None
    with open(whole, "rb") as file:
        return file.read()


def kind_at(whole: bytes) -> str:
    """What stands at a path."""
    try:
        mode = os.lstat(whole).st_mode
    except FileNotFoundError:
        return "absent"
    return "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "file"
