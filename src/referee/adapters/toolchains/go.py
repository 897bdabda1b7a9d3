"""Go: its installation, the modules fetched so far, and what was compiled before."""

from __future__ import annotations

import os

from referee.adapters.toolchains.place import Place
from referee.ports import Mount, Toolchain

# As seen inside, private to each command.
OWN, MODULES, CACHE = "/tmp/go", "/tmp/go-modules", "/tmp/go-build"  # noqa: S108
_ENV = {
    "GOPATH": OWN, "GOMODCACHE": MODULES, "GOCACHE": CACHE, "GOPROXY": "off", "GOSUMDB": "off",
    "GOTOOLCHAIN": "local", "GOTELEMETRY": "off",
}  # fmt: skip


def find(place: Place, folders: tuple[str, ...]) -> Toolchain:
    """Go; modules and compiled packages are the user's, and what is added is the command's own."""
    gopath = place.under_home("GOPATH", "go").partition(":")[0]
    sources = {MODULES: place.environ.get("GOMODCACHE") or f"{gopath}/pkg/mod"}
    if os.geteuid() != 0:  # root's commands run as somebody else, who could not add to the folders in root's cache
        sources[CACHE] = place.environ.get("GOCACHE") or f"{place.under_home('XDG_CACHE_HOME', '.cache')}/go-build"
    mounts = [Mount(source=s, target=t, layered=True) for t, s in sources.items() if os.path.isdir(s)]
    program = place.program("go")
    if not program:
        return Toolchain(name="go", mounts=tuple(mounts), env=_ENV, note="there is no go on your PATH")
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    shown = place.installation(prefix)
    return Toolchain(name="go", mounts=(*shown, *mounts), path=(f"{prefix}/bin",) if shown else (), env=_ENV)
