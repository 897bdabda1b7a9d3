"""What the harness asks a fork server for, and how it travels: JSON, then the bytes of the patch."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import Any

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Bind:
    """A path of the server's own view, shown read-only at `target`. Outer ones come first.

    Over a `layered` folder lies a layer that takes what is written.
    """

    source: str
    target: str
    layered: bool = False


@dataclass(frozen=True)
class Lower:
    """The tree under the overlay, where it appears, and the paths below it that stay read-only."""

    path: str
    mount_at: str
    protected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bounds:
    """Limits in bytes and seconds; None means none."""

    wall: float | None
    cpu: float | None
    memory: int | None
    address_space: int | None
    file: int
    disk: int
    processes: int
    open_files: int


@dataclass(frozen=True)
class Change:
    """One path of a patch; `size` is None for a deletion."""

    path: str
    size: int | None
    executable: bool = False


@dataclass(frozen=True)
class Request:
    """One process to start. `kind`: `exec` a program, `serve` jobs from a loaded script, `call` that script.

    With `handed`, copies of the mounts of `lower` and of `binds` come as descriptors, because the server cannot walk
    to them; else it opens their paths. `extra` descriptors more become the command's own. If `fed`, one is its standard
    input. With `door`, one is where the listening socket of the way out is sent. `writable` are folders that may be
    changed, for a ground that needs to be told.
    """

    kind: str
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    bounds: Bounds
    binds: tuple[Bind, ...] = ()
    lower: Lower | None = None
    changes: tuple[Change, ...] = ()
    channel: bool = False
    handed: bool = False
    extra: int = 0
    fed: bool = False
    door: bool = False
    writable: tuple[str, ...] = ()


def encode(request: Request, contents: list[bytes]) -> bytes:
    """The request and the new contents of its changes, in order."""
    head = json.dumps(request, default=vars).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *contents])


def decode(fd: int) -> tuple[Request, int]:
    """The request in the file `fd`, and the offset where the contents begin."""
    (length,) = _LENGTH.unpack(os.pread(fd, _LENGTH.size, 0))
    return _request(json.loads(os.pread(fd, length, _LENGTH.size))), _LENGTH.size + length


def _request(raw: dict[str, Any]) -> Request:
    lower = raw["lower"]
    raw["argv"] = tuple(raw["argv"])
    raw["bounds"] = Bounds(**raw["bounds"])
    raw["binds"] = tuple(Bind(**b) for b in raw["binds"])
    raw["lower"] = Lower(lower["path"], lower["mount_at"], tuple(lower["protected"])) if lower else None
    raw["changes"] = tuple(Change(**c) for c in raw["changes"])
    raw["writable"] = tuple(raw["writable"])
    return Request(**raw)
