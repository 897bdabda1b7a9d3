"""Dependency versions: what resolves, what a wish changes, why one is impossible. No model, no install."""

from __future__ import annotations

import os
from collections.abc import Sequence

from referee.adapters.uv import Wanted, Wish, repinned, resolve, wanted
from referee.api.recorder import write_whole
from referee.config import root_of
from referee.domain.resolution import Resolution


def deps(
    repo: str = ".", upgrade: Sequence[str] = (), python: str = "", *, write: bool = False, offline: bool = False
) -> Resolution:
    """Versions that exist and go together. With `write`, exact pins in the project's files are set to them.

    Raises `UsageError` for what is no requirement, `WorldFault` if the index cannot be reached.
    """
    folder = repo if os.path.isfile(os.path.join(repo, "pyproject.toml")) else root_of(repo)
    want = wanted(os.path.realpath(folder))
    found = resolve(want, Wish(upgrade=tuple(upgrade), python=python, offline=offline))
    if not write or found.conflicts:
        return found
    return found.model_copy(update={"written": tuple(_written(want, found))})


def _written(want: Wanted, found: Resolution) -> list[str]:
    """Exact pins change where they stand; a lock of pins alone also gets what is new."""
    changed = {}
    for name in dict.fromkeys(n for n in (want.source, want.lock) if n):
        with open(os.path.join(want.folder, name), encoding="utf-8", newline="") as file:
            before = file.read()
        after = repinned(before, found.resolved)
        if name == want.lock != want.source:
            missing = [n for n in found.resolved if n not in want.pins]
            after = after.rstrip("\n") + "\n" + "".join(f"{n}=={found.resolved[n]}\n" for n in missing)
        if after != before:
            changed[name] = after
    for name, after in changed.items():
        write_whole(os.path.join(want.folder, name), after.encode())
    return list(changed)
