"""A messy repository, and an oracle that compares it byte for byte without asking git."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

from referee.adapters.git import GitWorkspace
from referee.domain.patch import FileContent, Patch, patch_of

ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
ODD_NAMES = (b"new\nline.py", b'quo"te\t.py', b"-dash.py", b"latin\xe9.py", "日本語.py".encode(), b"back\\slash.py")


def git(root: Path, *args: str | bytes, stdin: bytes = b"", check: bool = True) -> bytes:
    """The user's own git."""
    said = subprocess.run(["git", *args], cwd=root, env=ENVIRONMENT, input=stdin, capture_output=True, check=False)
    assert not check or said.returncode == 0, said.stderr
    return said.stdout


def write(root: Path, path: str | bytes, data: bytes, mode: int = 0o644) -> None:
    """A file of the user's, with its folders."""
    whole = os.path.join(os.fsencode(root), os.fsencode(path))
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    Path(os.fsdecode(whole)).write_bytes(data)
    os.chmod(whole, mode)


def small(root: Path) -> Path:
    """A repository with one commit and nothing special."""
    root.mkdir(parents=True)
    git(root, "init", "-q")
    write(root, "src/a.py", b"x = 1\n")
    write(root, "src/b.py", b"y = 2\n")
    write(root, "run.sh", b"#!/bin/sh\n", 0o755)
    write(root, "tests/test_a.py", b"def test_a(): pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


def messy(root: Path, *, commit: bool = True) -> Path:
    """A repository with attributes, odd names, modes, symlinks, ignored, staged, unstaged and untracked state."""
    root.mkdir(parents=True)
    git(root, "init", "-q")
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    write(
        root,
        ".gitattributes",
        b"*.txt text=auto\n*.crlf text eol=crlf\nident.c ident\n*.up filter=up\n*.u16 working-tree-encoding=UTF-16LE\n",
    )
    write(root, ".gitignore", b"*.log\nbuild/\n*.so\n")
    for i in range(12):
        write(root, f"src/m{i}.py", b"x = %d\n" % i)
    for name in ODD_NAMES:
        write(root, b"odd/" + name, b"odd " + name + b"\n")
    write(root, "crlf.txt", b"a\r\nb\r\nmixed\nbare\rend")
    write(root, "e.crlf", b"q\r\nw\r\n")
    write(root, "ident.c", b"/* $Id$ */\n")
    write(root, "f.up", b"Hello\n")
    write(root, "z.u16", "hé\n".encode("utf-16-le"))
    write(root, "bin.dat", bytes(range(256)) * 10)
    write(root, "empty", b"")
    write(root, "run.sh", b"#!/bin/sh\n", 0o755)
    write(root, "private.cfg", b"p\n", 0o600)
    write(root, "forced.log", b"tracked though ignored\n")
    for link, target in (("link", "src/m1.py"), ("dangling", "nowhere"), ("dirlink", "src"), ("loop", "loop")):
        os.symlink(target, root / link)
    for name in ("deleted", "staged", "assumed", "removed"):
        write(root, name, b"one\ntwo\n")
    git(root, "add", "-A")
    git(root, "add", "-f", "forced.log")
    if commit:
        git(root, "commit", "-qm", "one")
        write(root, "src/m0.py", b"stash me\n")
        git(root, "stash", "-q")
        git(root, "rm", "-q", "removed")
        git(root, "update-index", "--assume-unchanged", "assumed")
    write(root, "src/m2.py", b"dirty\n")
    write(root, "staged", b"one\nSTAGED\n")
    git(root, "add", "staged")
    write(root, "staged", b"one\nSTAGED\nnot staged\n")
    write(root, "intent", b"intent to add\n")
    git(root, "add", "-N", "intent")
    (root / "deleted").unlink()
    write(root, "notes", b"untracked\n", 0o640)
    write(root, "git~1", b"a name that git add refuses\n")
    write(root, ".env", b"SECRET=1\n", 0o600)
    write(root, "x.log", b"log\n")
    write(root, "build/o.bin", b"\0\1")
    (root / "hollow/inner").mkdir(parents=True)
    return root


def photograph(root: Path, *, times: bool = True) -> dict[bytes, tuple[object, ...]]:
    """Every path outside .git and .harness: kind, mode, owner, content or target, and time of change."""
    seen: dict[bytes, tuple[object, ...]] = {}
    top = os.fsencode(root)
    for folder, folders, files in os.walk(top):
        if folder == top:
            folders[:] = [f for f in folders if f not in (b".git", b".harness")]
        for name in [*folders, *files]:
            whole = os.path.join(folder, name)
            facts = os.lstat(whole)
            path = os.path.relpath(whole, top)
            if stat.S_ISLNK(facts.st_mode):
                seen[path] = ("link", os.readlink(whole))
            elif stat.S_ISREG(facts.st_mode):
                content = hashlib.sha256(Path(os.fsdecode(whole)).read_bytes()).hexdigest()
                time = facts.st_mtime_ns if times else 0
                seen[path] = ("file", stat.S_IMODE(facts.st_mode), facts.st_uid, content, time)
            else:
                seen[path] = ("other", facts.st_mode, facts.st_uid)
    return seen


def git_folder(folder: Path) -> dict[str, str]:
    """Every file of a .git folder with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def status(root: Path) -> bytes:
    """What `git status` says to the user."""
    return git(root, "status", "--porcelain=v2", "-z", "--branch")


def patch(changes: dict[str, bytes | None]) -> Patch:
    """A patch from new contents; None deletes."""
    return patch_of({p: None if d is None else FileContent(data=d) for p, d in changes.items()})


_opened: list[GitWorkspace] = []


def workspace(root: Path, **options: Any) -> GitWorkspace:
    """A workspace that is closed at the end of the test."""
    opened = GitWorkspace(str(root), **options)
    _opened.append(opened)
    return opened


def close_all() -> None:
    """What the fixture `_closed` calls."""
    while _opened:
        _opened.pop().close()
