"""Node: the packages beside each package.json, and the program itself."""

from __future__ import annotations

import os

from referee.adapters.toolchains.place import Place
from referee.ports import Mount, Toolchain

# Installed, not the repository's own, and needed to run: by npm and pnpm, and by yarn without node_modules.
_INSTALLED = ("node_modules", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz", ".pnp.cjs", ".pnp.loader.mjs")
_MOST = 64  # mounts
_ENV = {
    "npm_config_offline": "true", "npm_config_update_notifier": "false", "npm_config_fund": "false",
    "npm_config_audit": "false", "NO_UPDATE_NOTIFIER": "1", "YARN_ENABLE_NETWORK": "0", "COREPACK_ENABLE_NETWORK": "0",
    "NEXT_TELEMETRY_DISABLED": "1",
}  # fmt: skip


def find(place: Place, folders: tuple[str, ...]) -> Toolchain:
    """Node for the packages in `folders`; what tools write into node_modules goes to the command's own layer."""
    mounts: list[Mount] = []
    for folder in folders:
        if "node_modules" in folder.split("/"):
            continue
        for name in _INSTALLED:
            whole = os.path.join(place.root, folder, name)
            if os.path.lexists(whole) and not os.path.islink(whole) and not _tracked(place, os.path.join(folder, name)):
                mounts.append(Mount(source=whole, target=whole, layered=os.path.isdir(whole)))
    notes = []
    if len(mounts) > _MOST:
        notes.append(f"only {_MOST} of {len(mounts)} folders of installed node packages are shown to commands")
    program = place.program("node")
    real = os.path.realpath(program) if program else ""
    path: tuple[str, ...] = ()
    if real and os.path.basename(real) in ("node", "nodejs"):
        prefix = os.path.dirname(os.path.dirname(real))
        shown = place.installation(prefix)
        mounts = [*shown, *mounts[:_MOST]]
        path = (f"{prefix}/bin",) if shown else ()
    else:
        mounts = mounts[:_MOST]
        what = f"{program} only starts another program" if program else "there is no node on your PATH"
        notes.append(f"{what}; put the folder of the real one on it")
    return Toolchain(name="node", mounts=tuple(mounts), path=path, env=_ENV, note="; ".join(notes))


def _tracked(place: Place, path: str) -> bool:
    return path in place.tracked or any(p.startswith(path + "/") for p in place.tracked)
