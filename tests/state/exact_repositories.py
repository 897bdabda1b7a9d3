"""Repositories of every kind that a user may have, built for real, with the matrix's tracked files committed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from exact_oracle import git
from exact_subjects import Style, subjects, write

IGNORE = b"*.ign\nbuilt/\n"
PLAIN = Style()
Maker = Callable[[bytes], bytes]  # makes the repository in a folder; its root


def fill(root: bytes, style: Style = PLAIN, *, commit: bool = True) -> None:
    """The tracked files, committed."""
    write(root, b".gitignore", IGNORE)
    for cell in subjects(style):
        if cell.origin == "tracked":
            write(root, cell.path, style.text())
    for name in (b"shared.txt", b"elsewhere", b"far/one.txt", b"deep/er/file.txt"):
        write(root, name, style.text())
    git(root, "add", "-A", "-f")
    if commit:
        git(root, "commit", "-qm", "one")


def new(place: bytes, *options: str, root: bytes = b"r") -> bytes:
    whole = os.path.join(place, root)
    os.makedirs(whole)
    git(whole, "init", "-q", "-b", "main", *options)
    return whole


def plain(*options: str, style: Style = PLAIN, attributes: bytes = b"", **settings: str) -> Maker:
    def make(place: bytes) -> bytes:
        root = new(place, *options)
        for key, value in settings.items():
            git(root, "config", key.replace("__", "."), value)
        if attributes:
            write(root, b".gitattributes", attributes)
        fill(root, style)
        return root

    return make


def uncommitted(place: bytes) -> bytes:
    root = new(place)
    fill(root, commit=False)
    return root


def detached(place: bytes) -> bytes:
    root = plain()(place)
    git(root, "checkout", "-q", "--detach")
    return root


def shallow(place: bytes) -> bytes:
    origin = plain()(os.path.join(place, b"origin"))
    write(origin, b"later.txt", b"later\n")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "two")
    git(place, "clone", "-q", "--depth", "1", b"file://" + origin, b"r")
    return os.path.join(place, b"r")


def worktree(place: bytes) -> bytes:
    main = plain()(os.path.join(place, b"main"))
    git(main, "worktree", "add", "-q", "../../linked")
    return os.path.join(place, b"linked")


def sparse(place: bytes) -> bytes:
    root = plain()(place)
    git(root, "sparse-checkout", "set", "--cone", "subjects", "deep")
    return root


def separate(place: bytes) -> bytes:
    root = new(place, b"--separate-git-dir=" + os.path.join(place, b"kept.git"))  # type: ignore[arg-type]
    fill(root)
    return root


def nested(place: bytes) -> bytes:
    root = plain()(place)
    inner = os.path.join(root, b"inner")
    os.makedirs(inner)
    git(inner, "init", "-q")
    write(inner, b"mine.txt", b"not committed\n")
    return root


def submodule(place: bytes) -> bytes:
    library = new(place, root=b"library")
    write(library, b"lib.txt", b"lib\n")
    git(library, "add", "-A")
    git(library, "commit", "-qm", "lib")
    root = plain()(place)
    git(root, "submodule", "add", "-q", library, "vendor")
    git(root, "commit", "-qm", "vendor")
    write(root, b"vendor/lib.txt", b"changed inside\n")
    return root


def diverged(place: bytes) -> bytes:
    root = plain()(place)
    git(root, "checkout", "-qb", "other")
    for branch in ("other", "main"):
        git(root, "checkout", "-q", branch)
        write(root, b"shared.txt", branch.encode() + b"\n")
        git(root, "commit", "-qam", branch)
    return root


def during(*command: str) -> Maker:
    def make(place: bytes) -> bytes:
        root = diverged(place)
        git(root, *command, check=False)
        write(root, b"shared.txt", b"resolved\n")
        git(root, "add", "shared.txt")
        return root

    return make


def hollow(place: bytes) -> bytes:
    root = plain()(place)
    os.makedirs(os.path.join(root, b"hollow/inner"))
    os.chmod(os.path.join(root, b"hollow"), 0o2775)
    return root


def huge(place: bytes) -> bytes:
    root = plain()(place)
    for name in (b"huge.bin", b"huge.ign"):
        write(root, name, b"x")
        os.truncate(os.path.join(root, name), 1 << 30)
    return root


def read_only(root: bytes) -> None:
    for folder, _, files in os.walk(os.path.join(root, b"subjects")):
        for name in files:
            whole = os.path.join(folder, name)
            if not os.path.islink(whole):
                os.chmod(whole, stat.S_IMODE(os.stat(whole).st_mode) & ~0o222)
    os.chmod(os.path.join(root, b"deep/er"), 0o555)


def given_away(root: bytes) -> None:
    """Every file belongs to somebody else, and the subjects to other people than their folder."""
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files, b"."]:
            owner = 23456 if name.startswith((b"s-", b"inner")) else 12345
            os.chown(os.path.join(folder, name), owner, owner, follow_symlinks=False)


def attributes_set(root: bytes) -> None:
    """Permissions and attributes that git does not know."""
    for n, name in enumerate(sorted(os.listdir(os.path.join(root, b"subjects")))):
        whole = os.path.join(root, b"subjects", name)
        if os.path.isfile(whole) and not os.path.islink(whole):
            os.chmod(whole, (0o600, 0o4755, 0o2750, 0o1644, 0o666, 0o700)[n % 6])
            os.setxattr(whole, "user.note", b"kept %d" % n)
    os.chmod(os.path.join(root, b"deep"), 0o2770)
