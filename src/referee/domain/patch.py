"""A patch: whole new contents for some paths, in bytes, onto a stated tree."""

from __future__ import annotations

import hashlib

from referee.domain.value import Value


class FileContent(Value):
    """A regular file's bytes and whether it is executable."""

    data: bytes
    executable: bool = False


class FileChange(Value):
    """One path of a patch; `after` is None for a deletion."""

    path: str
    after: FileContent | None


class Patch(Value):
    """Changes sorted by path. Equal patches have equal digests."""

    changes: tuple[FileChange, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths the patch changes, sorted."""
        return tuple(c.path for c in self.changes)

    @property
    def digest(self) -> str:
        """SHA-256 over paths, modes and contents, in hex."""
        h = hashlib.sha256()
        for c in self.changes:
            kind = b"d" if c.after is None else b"x" if c.after.executable else b"f"
            data = b"" if c.after is None else c.after.data
            name = c.path.encode("utf-8", "surrogateescape")
            h.update(b"%s %d %d\0%s%s" % (kind, len(name), len(data), name, data))
        return h.hexdigest()


def patch_of(contents: dict[str, FileContent | None]) -> Patch:
    """A patch from a mapping of path to new content (None deletes)."""
    return Patch(changes=tuple(FileChange(path=p, after=c) for p, c in sorted(contents.items())))


def composed(first: Patch, then: Patch) -> Patch:
    """The one patch that has the effect of `first` and then `then`; both name whole contents, so later wins."""
    return patch_of({c.path: c.after for c in (*first.changes, *then.changes)})
