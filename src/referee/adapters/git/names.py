"""File names as git and the kernel have them (bytes) and as the ports have them (text with surrogate escapes)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator


def encode(path: str) -> bytes:
    """The bytes of a path. UTF-8 whatever the locale, because that is what git's trees are read as."""
    return path.encode("utf-8", "surrogateescape")


def decode(path: bytes) -> str:
    """A path as text; bytes that are not UTF-8 become surrogate escapes."""
    return path.decode("utf-8", "surrogateescape")


def shown(path: bytes) -> str:
    """A path for a sentence: printable on any terminal."""
    text = path.decode("utf-8", "backslashreplace")
    return text if text.isprintable() else ascii(text)[1:-1]


def parents(path: bytes) -> tuple[bytes, ...]:
    """Every folder on the way to `path`, outermost first, without the root."""
    parts = path.split(b"/")[:-1]
    return tuple(b"/".join(parts[: i + 1]) for i in range(len(parts)))


def objection(path: bytes) -> str | None:
    """Why `path` can name no file of a work tree; None if it can."""
    parts = path.split(b"/")
    if not path or path.startswith(b"/") or b"\0" in path or any(p in {b"", b".", b".."} for p in parts):
        return "is not a plain path relative to the repository's root"
    if any(p.lower() == b".git" for p in parts):
        return "is inside a .git folder"
    if parts[0] == b".harness":
        return "is inside .harness, which holds the record of runs"
    return None


def _checked(path: bytes) -> bytes:
    if (why := objection(path)) is not None:
        raise ValueError(f"{shown(path)} {why}")
    return path


# A path in a record: whoever brought the record along must not lead a landing out of the work tree.
WorkPath = Annotated[bytes, AfterValidator(_checked)]
