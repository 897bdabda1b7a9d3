"""Where hooks are written: where people have them already, and a file of the repository's for this harness alone."""

from __future__ import annotations

import json
import os
import stat

from referee.domain.hooks import Hook, parsed

_PLACES = (".claude/settings.json", "hooks.json")
_MOST = 1 << 20


def places() -> tuple[str, ...]:
    """The files that may hold hooks, from the root of the repository."""
    return _PLACES


def read(root: str) -> tuple[tuple[Hook, ...], tuple[str, ...]]:
    """The hooks of a repository, and in words what was left out."""
    hooks: list[Hook] = []
    notes: list[str] = []
    for place in _PLACES:
        try:
            written = document(os.path.join(root, place))
        except (OSError, ValueError, RecursionError) as wrong:
            notes.append(f"{place}: cannot be read: {wrong}")
            continue
        found, left_out = parsed(written) if written is not None else ((), ())
        hooks += found
        notes += [f"{place}: {note}" for note in left_out]
    return tuple(hooks), tuple(notes)


def document(path: str) -> object:
    """The JSON in a small regular file, None if there is none. Raises `OSError` and `ValueError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no regular file")
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise ValueError(f"it is larger than {_MOST} bytes")
    found: object = json.loads(data)
    return found
