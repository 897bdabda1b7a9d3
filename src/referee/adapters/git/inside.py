"""The repository that commands see: one commit of the base's own tree. Git works, and tells nothing of the user's.

It holds its own copy of the objects. What a command does to it stays in the command's upper layer.
"""

from __future__ import annotations

import os
import shutil
import zlib

from referee.adapters.git.entry import object_name
from referee.adapters.git.private import ATTRIBUTES, Private
from referee.domain.errors import WorldFault

FOLDER = b".git"
_MOST_PACKS = 16  # beyond it everything is packed anew
_WHO = b"referee <referee@localhost> 946684800 +0000"  # always the same, so that equal trees give equal commits
# The files are seen through another file system: their inode numbers and change times say nothing there.
_CONFIG = b"""\
[core]
\trepositoryFormatVersion = %d
\tbare = false
\tfileMode = true
\tautocrlf = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = referee
\temail = referee@localhost
[gc]
\tauto = 0
"""


def furnished(files: bytes) -> bool:
    """Whether the repository in `files` is complete: its HEAD is written last."""
    return os.path.isfile(os.path.join(files, FOLDER, b"HEAD"))


def furnish(private: Private, files: bytes, tree: str, before: str, tags: tuple[bytes, ...]) -> None:
    """Make or renew the repository in `files`; `before` is the tree whose objects it has already, if any.

    `tags` are names that shall point at its commit.
    """
    folder = os.path.join(files, FOLDER)
    packs = os.path.join(folder, b"objects", b"pack")
    if before and (not furnished(files) or len(os.listdir(packs)) > 3 * _MOST_PACKS):
        before = ""
    if before:
        os.unlink(os.path.join(folder, b"HEAD"))
        shutil.rmtree(os.path.join(folder, b"refs"))
    elif os.path.lexists(folder):
        shutil.rmtree(folder)
    for name in (b"objects/pack", b"objects/info", b"refs/heads", b"refs/tags", b"info"):
        os.makedirs(os.path.join(folder, name), mode=0o755, exist_ok=True)
    wanted = f"{tree}\n^{before}\n" if before else f"{tree}\n"
    private.git(
        "pack-objects", "-q", "--revs", "--compression=1", "--delta-base-offset", "--window=0",
        os.path.join(packs, b"pack"), stdin=wanted.encode(),
    )  # fmt: skip
    algorithm = "sha1" if len(tree) == 40 else "sha256"
    commit = _commit(folder, tree, algorithm)
    _put(folder, b"config", _config(algorithm))
    _put(folder, b"description", b"A snapshot that commands may use as they like.\n")
    _put(folder, b"info/attributes", ATTRIBUTES)
    for ref in (b"refs/heads/main", *(b"refs/tags/" + t for t in tags)):
        _put(folder, ref, commit.encode() + b"\n")
    _put(folder, b"HEAD", b"ref: refs/heads/main\n")


def _config(algorithm: str) -> bytes:
    if algorithm == "sha1":
        return _CONFIG % 0
    return _CONFIG % 1 + b"[extensions]\n\tobjectFormat = %s\n" % algorithm.encode()


def _commit(folder: bytes, tree: str, algorithm: str) -> str:
    data = b"tree %s\nauthor %s\ncommitter %s\n\nSnapshot of the repository\n" % (tree.encode(), _WHO, _WHO)
    oid = object_name(algorithm, "commit", data)
    place = os.path.join(b"objects", oid[:2].encode(), oid[2:].encode())
    if not os.path.exists(os.path.join(folder, place)):
        _put(folder, place, zlib.compress(b"commit %d\0%s" % (len(data), data), 1))
    return oid


def _put(folder: bytes, name: bytes, data: bytes) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        written = file.write(data)
    if written != len(data):
        raise WorldFault(f"{os.fsdecode(path)} was not written whole; free some space and try again")
