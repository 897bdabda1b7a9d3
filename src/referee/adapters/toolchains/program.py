"""A program of the user's that is to run inside: where it is, and what must be visible for it to start."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from referee.adapters.python import find as find_python
from referee.adapters.toolchains.place import Place
from referee.domain.errors import UsageError
from referee.ports import Mount, Toolchain


def program(name: str, root: str, asker: str, environ: Mapping[str, str] | None = None) -> tuple[str, Toolchain]:
    """The path of `name` as seen inside, and what shows it. Raises `UsageError` if there is no such program.

    `asker` is what names it, in words for the user.

    One in the repository at `root` runs as it is there: only a path can name it, never the user's search path.
    """
    place = Place(root=root, environ=os.environ if environ is None else environ)
    found = os.path.abspath(name) if "/" in name else place.program(name)
    if not found or shutil.which(found) is None:
        raise UsageError(f"{asker} names {name}, which is not a program on your PATH; install it first")
    real = os.path.realpath(found)
    if (real + "/").startswith(os.path.realpath(root) + "/"):
        return real, Toolchain(name=name)
    mounts = _mounts(real, place)
    node = os.path.realpath(place.program("node")) if "/node_modules/" in real else ""
    folders = [os.path.dirname(p) for p in (real, node) if p and not p.startswith("/usr/")]
    path = tuple(dict.fromkeys(folders))
    return real, Toolchain(name=name, mounts=mounts, path=path)


def _mounts(real: str, place: Place) -> tuple[Mount, ...]:
    if real.startswith("/usr/"):
        return ()
    prefix = os.path.dirname(os.path.dirname(real))
    if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
        return find_python(place.root, own=prefix, explicit=prefix).mounts
    head, packages, _ = real.partition("/node_modules/")
    if packages:  # a package of npm, beside those that it needs
        node = place.program("node")
        install = place.installation(os.path.dirname(os.path.dirname(os.path.realpath(node)))) if node else ()
        return (*install, Mount(source=f"{head}/node_modules", target=f"{head}/node_modules"))
    return (Mount(source=real, target=real),)
