"""Which toolchains a repository needs, by the files in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from referee.adapters.toolchains import cargo, go, node
from referee.adapters.toolchains.place import Place
from referee.ports import Toolchain

_FINDERS = {"package.json": node.find, "Cargo.toml": cargo.find, "go.mod": go.find}


def find(root: str, paths: Sequence[str], environ: Mapping[str, str] | None = None) -> tuple[Toolchain, ...]:
    """The toolchains for the files `paths` (relative) of the repository at `root`.

    `environ` says where the user's programs and caches are; only folders are shown inside, never its values.
    """
    place = Place(root=root, environ=os.environ if environ is None else environ, tracked=frozenset(paths))
    found = []
    for name, finder in _FINDERS.items():
        folders = tuple(sorted({p.rpartition("/")[0] for p in paths if p.rpartition("/")[2] == name}))
        if folders:
            found.append(finder(place, folders))
    return tuple(found)
