"""What the last snapshot saw: if nothing of it changed, the next one needs to look at changed files only."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress

from pydantic import ValidationError

from referee.adapters.git.private import Private, replace
from referee.domain.value import Value

_NAME = b"recent"
MOST_AGAIN = 2_000  # paths outside the tree that are worth looking at one by one


class Recent(Value):
    """A snapshot's tree and what it was made from.

    `index` is the user's index, `own` the private one that holds the tree; `others` and `ignored` are digests of the
    names of untracked and ignored files. `absent` are tracked paths that were not there, `omitted` what was left out
    and why, `along` the ignored files that came along. `loose` is a digest of untracked and ignored names together, and
    of the rules that tell them apart, where one look at both is enough; else it is empty.
    """

    extra: tuple[str, ...]
    index: str
    digest: str
    others: str
    ignored: str
    own: tuple[int, ...]
    tree: str
    loose: str = ""
    head: str
    absent: tuple[bytes, ...] = ()
    omitted: tuple[tuple[bytes, str], ...] = ()
    along: tuple[bytes, ...] = ()


def load(private: Private) -> Recent | None:
    """The last snapshot's, or None if there is none that can be used."""
    with suppress(FileNotFoundError, ValidationError), open(os.path.join(private.folder, _NAME), "rb") as file:
        return Recent.model_validate_json(file.read())
    return None  # it only saves time


def save(private: Private, recent: Recent) -> None:
    """Keep it for the next snapshot."""
    replace(os.path.join(private.folder, _NAME), recent.model_dump_json().encode(), durable=False)


def drop(private: Private) -> None:
    """The next snapshot looks at everything."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(private.folder, _NAME))


def file_digest(path: bytes) -> str:
    """A digest of a file's bytes; empty if it is not there."""
    with suppress(FileNotFoundError), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest()
    return ""


def digest(names: Iterable[bytes]) -> str:
    """A digest of names in order."""
    return hashlib.sha1(b"\0".join(names), usedforsecurity=False).hexdigest()


def state(path: bytes) -> tuple[int, ...]:
    """What changes whenever a file is replaced or written."""
    facts = os.stat(path)
    return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
