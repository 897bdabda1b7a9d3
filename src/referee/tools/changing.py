"""The tools that change files: write, edit, delete, move. Each binds to the `Apply` that a repair uses."""

from __future__ import annotations

import difflib
import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from referee.actions.tree import Apply
from referee.domain.edits import Misfit, replace_whole, splice
from referee.domain.observation import Observation, Seen, failed
from referee.domain.patch import FileContent, patch_of
from referee.domain.proposal import Edit
from referee.domain.risk import Risk
from referee.tools.reading import version
from referee.tools.room import OUTPUTS, Room
from referee.tools.tool import tool
from referee.tools.words import counted

MOST_WRITTEN = 1 << 20


class Replacement(BaseModel):
    """One edit; `old` is exact and occurs once, unless `all`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    old: Annotated[str, Field(min_length=1)]
    new: str
    all: bool = False


@tool("files", Risk.SCRATCH)
def write(room: Room, path: str, content: str) -> Observation:
    """Create a file, or replace one that you have read whole. Parent folders are made.

    Not for changing a part of a file: use edit. Not for scratch output: let bash print it.
    """
    place = room.changeable(path)
    if place == "." or place.endswith("/"):
        return failed(f"{path} is a folder; give the path of a file")
    if "\0" in content or len(content) > MOST_WRITTEN:
        return failed("the content has a NUL character or is longer than a megabyte; nothing was written")
    before = room.read(place)
    if before is None:
        return _applied(room, {place: FileContent(data=content.encode("utf-8", "replace"))}, f"created {place}")
    stale = _unread(room, place, before, whole=True)
    if stale:
        return failed(stale)
    try:
        data = replace_whole(before, content)
    except Misfit as wrong:
        return failed(f"{place}: {wrong}")
    return _applied(room, {place: FileContent(data=data, executable=_mode(room, place))}, f"wrote {place}")


@tool("files", Risk.SCRATCH)
def edit(room: Room, path: str, edits: Annotated[list[Replacement], Field(min_length=1)]) -> Observation:
    """Change parts of a file that you have read. All edits are made at once, or none.

    `old` is copied from the file exactly, without line numbers, and occurs once; take in lines around it until it
    does, or set all. Not for new files: use write.
    """
    place = room.changeable(path)
    before = room.read(place)
    if before is None:
        return failed(f"there is no file {place}; write creates one")
    stale = _unread(room, place, before, whole=False)
    if stale:
        return failed(stale)
    try:
        after = splice(before, tuple(Edit(old=e.old, new=e.new) for e in edits if not e.all))
        for each in (e for e in edits if e.all):
            after = _everywhere(after, each)
    except Misfit as wrong:
        return failed(f"nothing was changed in {place}: {wrong}")
    if after == before:
        return failed(f"nothing was changed: with these edits {place} stays as it is")
    what = f"edited {place}, {counted(len(edits), 'edit')}"
    return _applied(room, {place: FileContent(data=after, executable=_mode(room, place))}, what)


@tool("files", Risk.SCRATCH)
def delete(room: Room, path: str) -> Observation:
    """Delete one file. Not for folders: use bash."""
    place = room.changeable(path)
    if room.read(place) is None:
        return failed(f"there is no file {place}; nothing was deleted")
    return _applied(room, {place: None}, f"deleted {place}")


@tool("files", Risk.SCRATCH)
def move(room: Room, path: str, to: str) -> Observation:
    """Move or rename one file. Does not mend what refers to it: grep for its name. Not for folders: use bash."""
    place, target = room.changeable(path), room.changeable(to)
    data = room.read(place)
    if data is None:
        return failed(f"there is no file {place}; nothing was moved")
    if room.read(target) is not None or any(p.startswith(f"{target}/") for p in room.paths()):
        return failed(f"{target} is there already; delete it first, or choose another name")
    content = FileContent(data=data, executable=_mode(room, place))
    return _applied(room, {place: None, target: content}, f"moved {place} to {target}")


def _applied(room: Room, contents: dict[str, FileContent | None], said: str) -> Observation:
    if any(p.startswith(OUTPUTS) or p in room.scratch for p in contents):
        return failed("that file is none of the repository's (git ignores it); change it with bash")
    before = {p: room.read(p) or b"" for p in contents}
    tree = room.run.perform(Apply(base=room.tree, patch=patch_of(contents)))
    seen = tuple(
        Seen(path=p, version=version(c.data), upto=c.data.count(b"\n") + 1, whole=_knows(room, p, before[p]))
        for p, c in contents.items()
        if c is not None
    )
    rows = [f"{len(c.data)} bytes, {_stat(before[p], c.data)}" for p, c in contents.items() if c is not None]
    return Observation(text=f"{said}: {'; '.join(rows)}" if rows else said, tree=tree, seen=seen)


def _knows(room: Room, path: str, before: bytes) -> bool:
    """Whether the whole file is known after a change: a new one is, one that was read in part is not."""
    known = room.seen.get(path)
    return not before or (known is not None and known.whole)


def _stat(before: bytes, after: bytes) -> str:
    old, new = before.split(b"\n"), after.split(b"\n")
    if len(old) + len(new) > 4_000:
        return f"{len(old)} to {len(new)} lines"
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    added = sum(j2 - j1 for tag, _, _, j1, j2 in codes if tag != "equal") if before else len(after.splitlines())
    gone = sum(i2 - i1 for tag, i1, i2, _, _ in codes if tag != "equal") if before else 0
    return f"+{added} -{gone} lines"


def _unread(room: Room, path: str, now: bytes, *, whole: bool) -> str:
    """Why the file may not be changed yet: it was not read, not whole, or is not as it was read."""
    known = room.seen.get(path)
    if known is None:
        return f"you have not read {path}; read it first, then change what is there"
    if known.version != version(now):
        return f"{path} is no longer as you read it (a command changed it); read it again first"
    if whole and not known.whole:
        return f"you have read {path} in part, so write would lose the rest; read all of it, or use edit"
    return ""


def _mode(room: Room, path: str) -> bool:
    return room.run.executable(room.tree, path)


def _everywhere(data: bytes, each: Replacement) -> bytes:
    """Every occurrence replaced; a newline matches either ending and takes on that of its place."""
    old = rb"(\r?)\n".join(re.escape(line) for line in each.old.replace("\r\n", "\n").encode().split(b"\n"))

    def new(found: re.Match[bytes]) -> bytes:
        ending = b"\r\n" if b"\r" in found.groups() or (not found.groups() and b"\r\n" in data) else b"\n"
        return each.new.replace("\r\n", "\n").encode().replace(b"\n", ending)

    after, count = re.subn(old, new, data)
    if not count:
        raise Misfit(f"`old` = {each.old[:80]!r} is not in the file")
    return after
