"""What is on disk, byte for byte, asked without git; and what the user's own git says of it."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

from referee.domain.patch import FileContent

ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
    "GIT_CONFIG_KEY_1": "safe.directory",
    "GIT_CONFIG_VALUE_1": "*",
}
WHOLE = 64 << 20  # larger files are compared by size, allocation, time and both ends


class Seen(NamedTuple):
    """One path: what it is, what it holds, and when it was changed."""

    kind: str
    mode: int
    owner: tuple[int, int]
    content: bytes
    attributes: tuple[tuple[str, bytes], ...]
    time: int


Picture = dict[bytes, Seen]


def git(root: bytes | Path, *args: str | bytes, stdin: bytes = b"", check: bool = True) -> bytes:
    """The user's own git."""
    said = subprocess.run(["git", *args], cwd=root, env=ENVIRONMENT, input=stdin, capture_output=True, check=False)
    assert not check or said.returncode == 0, said.stderr
    return said.stdout


def picture(place: bytes) -> Picture:
    """Everything below a folder, `.git` folders too, but not `.harness`."""
    seen: Picture = {}
    for folder, folders, files in os.walk(place):
        folders[:] = [f for f in folders if f != b".harness"]
        for name in [*folders, *files]:
            whole = os.path.join(folder, name)
            seen[os.path.relpath(whole, place)] = _seen(whole)
    return seen


def differences(before: Picture, after: Picture, *, touched: frozenset[bytes] = frozenset()) -> list[str]:
    """Every difference, in words.

    The times of `touched` files and of all folders may differ: names came and went. Whoever reads a split index,
    be it by `git status`, renews the time of its shared part.
    """
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is None or new is None:
            found.append(f"{path!r}: {'appeared' if old is None else 'is gone'}")
            continue
        for field in Seen._fields:
            timeless = path in touched or old.kind == "folder" or b"/sharedindex." in path
            if not (field == "time" and timeless) and getattr(old, field) != getattr(new, field):
                found.append(f"{path!r}: {field} {getattr(old, field)!r} became {getattr(new, field)!r}")
    return found


def as_landed(before: Picture, landed: Picture, changes: dict[bytes, FileContent | None]) -> list[str]:
    """Every way in which the landing is not exactly the patch."""
    made = {os.path.dirname(p) for p in changes} | {os.path.dirname(os.path.dirname(p)) for p in changes}
    wrong = differences(
        {p: seen for p, seen in before.items() if p not in changes},
        {p: s for p, s in landed.items() if p not in changes and (p in before or p not in made)},
    )
    for path, content in changes.items():
        old, new = before.get(path), landed.get(path)
        if content is None or new is None:
            wrong += [] if content is new is None else [f"{path!r}: {new} instead of {content}"]
            continue
        if (new.kind, new.content, bool(new.mode & 0o100)) != ("file", content.data, content.executable):
            wrong.append(f"{path!r} is {new}")
        if (
            old is not None
            and [s._replace(mode=s.mode & ~0o111, content=b"", time=0) for s in (old, new)]
            != [old._replace(mode=old.mode & ~0o111, content=b"", time=0)] * 2
        ):
            wrong.append(f"{path!r} was {old} and is {new}")
    return wrong


def status(root: bytes) -> list[bytes]:
    """What the user sees, line by line, without our own folder."""
    how = ("--porcelain=v2", "-z", "--branch", "--ignored", "--untracked-files=all")
    said = git(root, "status", *how, check=False).split(b"\0")
    return [line for line in said if not line.startswith(b"! .harness/")]


def _seen(whole: bytes) -> Seen:
    facts = os.lstat(whole)
    owner, mode = (facts.st_uid, facts.st_gid), stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode):
        return Seen("link", mode, owner, os.readlink(whole), (), facts.st_mtime_ns)
    if stat.S_ISDIR(facts.st_mode):
        return Seen("folder", mode, owner, b"", (), facts.st_mtime_ns)
    if not stat.S_ISREG(facts.st_mode):
        return Seen("special", facts.st_mode, owner, b"", (), facts.st_mtime_ns)
    return Seen("file", mode, owner, _content(whole, facts), _attributes(whole), facts.st_mtime_ns)


def _content(whole: bytes, facts: os.stat_result) -> bytes:
    with open(whole, "rb") as file:
        if facts.st_size <= WHOLE:
            data = file.read()
            return data if len(data) < 2_000 else hashlib.sha256(data).digest()
        first = file.read(4096)
        file.seek(-4096, os.SEEK_END)
        return hashlib.sha256(b"%d %d" % (facts.st_size, facts.st_blocks) + first + file.read()).digest()


def _attributes(whole: bytes) -> tuple[tuple[str, bytes], ...]:
    try:
        return tuple((name, os.getxattr(whole, name)) for name in sorted(os.listxattr(whole)))
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return ()
