"""Which lines the last commits and the uncommitted work have put where they are."""

from __future__ import annotations

import re

from referee.adapters.git.base import changed
from referee.adapters.git.history import History
from referee.adapters.git.private import Private
from referee.domain.errors import WorldFault

_PLAIN = ("--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILES = 200
_MOST = 200  # a file of which more was changed is new or was moved: that says nothing about any line


def lately(private: Private, history: History, tree: str, commits: int) -> dict[str, tuple[int, ...]]:
    """The lines of `tree` that differ from `commits` commits ago, by path; nothing if there are not that many."""
    said = history.ask("rev-list", "--first-parent", f"--max-count={commits + 1}", "HEAD", b"--")
    found = said.out.decode().split() if said.code == 0 else []
    if len(found) <= commits:
        return {}
    try:
        names = [p for p in changed(private, found[-1], tree) if p.endswith(b".py")][:_FILES]
        if not names:
            return {}
        out = private.git("diff-tree", "-r", "-p", "-U0", *_PLAIN, *_PREFIXES, found[-1], tree, b"--", *names)
    except WorldFault:
        return {}  # a partial clone has not every old content, and this is a hint only
    return {path: lines for path, lines in _lines(out).items() if len(lines) <= _MOST}


def _lines(patch: bytes) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    path, inside = "", 0
    for line in patch.split(b"\n"):
        if inside:  # a line of a hunk may look like anything
            inside -= not line.startswith(b"\\")
        elif line.startswith(b"+++ "):
            # git puts a tab behind a name with a blank; names it has to quote are passed over
            path = line[6:].rstrip(b"\t").decode("utf-8", "surrogateescape") if line.startswith(b"+++ b/") else ""
        elif hunk := _HUNK.match(line):
            taken, start, put = (int(part) if part is not None else 1 for part in hunk.groups())
            inside = taken + put
            if path:
                found.setdefault(path, []).extend(range(start, start + put))
    return {p: tuple(lines) for p, lines in found.items()}
