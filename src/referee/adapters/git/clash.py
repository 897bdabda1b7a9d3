"""Both sides of a file that a rollback leaves alone, for a person to decide."""

from __future__ import annotations

import difflib
import os
import re
import stat

from referee.adapters.git.names import decode, shown
from referee.adapters.git.root import CONTENT, Root
from referee.ports import Clash

MOST_LINES = 200  # of each diff; what is cut is counted

Side = bytes | str | None  # a file's content; or, in words, what else is there; or nothing


def clash(path: bytes, before: Side, landed: Side, now: Side) -> Clash:
    """What was changed since the run, and what putting the file back would change."""
    return Clash(
        path=decode(path),
        since=_difference(path, landed, now, ("as the run left it", "now")),
        undo=_difference(path, landed, before, ("as the run left it", "before the run")),
    )


def standing(root: Root, path: bytes) -> Side:
    """What stands at a path now. Never follows a symlink."""
    try:
        with root.parent(path) as (folder, name):
            facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(facts.st_mode):
                return f"a symlink to {shown(os.fsencode(os.readlink(name, dir_fd=folder)))}"
            if not stat.S_ISREG(facts.st_mode):
                return "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            with open(os.open(name, CONTENT, dir_fd=folder), "rb") as file:
                return file.read()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return "below what is no folder any more"


def _difference(path: bytes, old: Side, new: Side, names: tuple[str, str]) -> str:
    if isinstance(old, str) or isinstance(new, str) or b"\0" in (old or b"") + (new or b""):
        return f"{names[0]}: {_words(old)}; {names[1]}: {_words(new)}\n"
    if old == new:
        return f"only the permissions differ, {names[0]} and {names[1]}\n"
    left_name, right_name = (f"{shown(path)} ({name})" for name in names)
    rows = list(difflib.unified_diff(_lines(old), _lines(new), left_name, right_name))
    left = len(rows) - MOST_LINES
    return "".join(rows[:MOST_LINES]) + (f"… {left} more lines\n" if left > 0 else "")


def _words(side: Side) -> str:
    if side is None:
        return "not there"
    return side if isinstance(side, str) else f"{len(side)} bytes"


def _lines(data: bytes | None) -> list[str]:
    rows = re.findall(r"[^\n]*\n|[^\n]+", (data or b"").decode("utf-8", "backslashreplace"))
    return [row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows]
