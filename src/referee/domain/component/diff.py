"""A unified diff, as git writes it, as rows of two sides."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from referee.domain.component.values import DiffReview, FileDiff, Hunk, Side

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_MOST_LINES = 20_000
_NOTES = (
    ("new file mode 120", "a new symbolic link"),
    ("new file mode", "created"),
    ("deleted file mode", "deleted"),
    ("Binary files", "binary"),
    ("GIT binary patch", "binary"),
)
# What git says of a file and a reader need not see: hashes, the modes and a binary file's bytes, which the note tells.
_TOLD = re.compile(
    r"index [0-9a-f]+\.\.[0-9a-f]+( [0-7]{6})?|(old|new|deleted file|new file) mode [0-7]{6}|similarity index \d+%"
    r"|GIT binary patch|(literal|delta) \d+"
)
_BASE85 = re.compile(r"[A-Za-z]([0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5})+")
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass
class _File:
    path: str = ""
    old: str = ""
    notes: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)
    added: int = 0
    removed: int = 0

    @property
    def unplaced(self) -> tuple[str, ...]:
        """The lines outside hunks that nothing else here tells: a text may only look like a diff."""
        old = next((n.removeprefix("renamed from ") for n in self.notes if n.startswith("renamed from ")), self.path)
        told = {
            *(f"diff --git a/{old} b/{self.path}", f"--- a/{old}", f"+++ b/{self.path}", f"--- {old}"),
            *(f"+++ {self.path}", "--- /dev/null", "+++ /dev/null", f"rename from {old}", f"rename to {self.path}"),
            f"Binary files a/{old} and b/{self.path} differ",
            f"Binary files /dev/null and b/{self.path} differ",
            f"Binary files a/{old} and /dev/null differ",
        }
        return tuple(line for line in self.plain if line.strip() and line.rstrip("\t") not in told)


def diff_review(diff: str, most: int = _MOST_LINES) -> DiffReview:
    """The diff to read; lines after the first `most` are counted and left out.

    Total: what is no diff is in the `plain` lines of the file it follows, and before the first one of a file without
    a path.
    """
    lines = diff.split("\n")
    shown = lines[:most]
    reader = _Reader(shown)
    reader.read()
    digest = hashlib.sha256(diff.encode("utf-8", "surrogateescape")).hexdigest() if diff else ""
    files = tuple(
        FileDiff(
            path=f.path,
            hunks=tuple(f.hunks),
            note=", ".join(dict.fromkeys(f.notes)),
            plain=f.unplaced,
            added=f.added,
            removed=f.removed,
        )
        for f in reader.files
        if f.path or f.hunks or f.notes or f.unplaced
    )
    return DiffReview(files=files, digest=digest, cut=len(lines) - len(shown))


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines, self._at, self.files = lines, 0, list[_File]()

    def read(self) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if line.startswith("diff --git "):
                self.files.append(_File(path=_named_twice(line), plain=[line]))
                continue
            if line.startswith("--- ") and (not self.files or self.files[-1].hunks):
                self.files.append(_File())  # a plain diff has no line for each file
            elif not self.files and line.strip():
                self.files.append(_File())
            if self.files:
                self._heading(self.files[-1], line)

    def _heading(self, file: _File, line: str) -> None:
        """A line between files and hunks, or the hunk that it begins."""
        if hunk := _HUNK.match(line):
            self._hunk(file, hunk)
            return
        bytes_of_it = "binary" in file.notes and _BASE85.fullmatch(line)
        if line != _NO_NEWLINE and (file.hunks or not (_TOLD.fullmatch(line) or bytes_of_it)):
            file.plain.append(line)
        if line.startswith("--- "):
            file.old = _name(line)
        elif line.startswith("+++ "):
            file.path = _name(line) or file.old or file.path
        elif line.startswith("rename from "):
            file.notes.append("renamed from " + line.removeprefix("rename from "))
        elif line.startswith("rename to "):
            file.path = line.removeprefix("rename to ")
        elif line.startswith("new mode "):
            file.notes.append("now executable" if line.endswith("755") else "mode " + line.removeprefix("new mode "))
        elif line == _NO_NEWLINE:
            file.notes.append("no newline at its end")
        else:
            file.notes += [note for start, note in _NOTES if line.startswith(start)][:1]

    def _hunk(self, file: _File, found: re.Match[str]) -> None:
        old, new = int(found[1]), int(found[3])
        old_left, new_left = int(found[2] or 1), int(found[4] or 1)
        sides: list[Side] = []
        gone: list[Side] = []
        come: list[Side] = []
        while (old_left > 0 or new_left > 0) and self._at < len(self._lines):
            line = self._lines[self._at]
            mark, text = line[:1], line[1:].removesuffix("\r")
            if mark not in ("-", "+", " ", "\\", ""):
                break
            self._at += 1
            if mark == "-":
                gone.append(Side(old_number=old, old=text))
                old, old_left, file.removed = old + 1, old_left - 1, file.removed + 1
            elif mark == "+":
                come.append(Side(new_number=new, new=text))
                new, new_left, file.added = new + 1, new_left - 1, file.added + 1
            elif mark == "\\":
                self._heading(file, line)
            else:
                sides += _paired(gone, come)
                gone, come = [], []
                sides.append(Side(old_number=old, old=text, new_number=new, new=text))
                old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
        sides += _paired(gone, come)
        file.hunks.append(Hunk(heading=found[5], sides=tuple(sides)))


def _paired(gone: list[Side], come: list[Side]) -> list[Side]:
    """Removed lines beside those that came for them."""
    rows = []
    for n in range(max(len(gone), len(come))):
        old = gone[n] if n < len(gone) else Side()
        new = come[n] if n < len(come) else Side()
        rows.append(Side(old_number=old.old_number, old=old.old, new_number=new.new_number, new=new.new))
    return rows


def _name(line: str) -> str:
    """The path in a `---` or `+++` line; empty for /dev/null. A quoted name stays as git quotes it."""
    name = line[4:].rstrip("\t")
    if name == "/dev/null":
        return ""
    quoted = name.startswith('"')
    name = name.strip('"') if quoted else name
    return name[2:] if name[:2] in ("a/", "b/") else name


def _named_twice(line: str) -> str:
    """The path in `diff --git a/X b/X`, which has no other for an empty or binary file."""
    names = line.removeprefix("diff --git ")
    half = names[2 : len(names) // 2]
    return half if names == f"a/{half} b/{half}" else names
