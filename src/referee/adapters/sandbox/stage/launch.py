"""The last step inside a sandbox that another program built: copy the base, patch it, limit, start the command."""

from __future__ import annotations

import os
import shutil

from . import confine, door, init, kernel, patch, places
from .request import Request, decode

READY = b"ready"  # written once everything is in place; anything else written there is what went wrong


def main(request_fd: int) -> None:
    """Run the request in `request_fd`; the descriptor after the next one is told how that went, the next is the door.

    The one in between is the filter, which bubblewrap has taken.
    """
    ready = request_fd + 2
    for fd in (request_fd, ready):
        os.set_inheritable(fd, False)
    try:
        request, offset = decode(request_fd)
        if request.door:
            door.hand_out(ready + 1)
        os.umask(0o022)
        if request.lower:
            copy_base(request)
            patch.apply(request.lower.mount_at, request.changes, request_fd, offset)
        if not os.path.isdir(request.cwd):
            raise places.Unfit(f"there is no folder {request.cwd!r} inside the sandbox to start in")
        os.chdir(request.cwd)
        kernel.set_no_new_privileges()
        confine.limit(request.bounds)
    except OSError as e:
        os.write(ready, str(e).encode("utf-8", "replace"))
        os._exit(1)
    os.write(ready, READY)
    init.execute(request.argv, request.env)


def copy_base(request: Request) -> None:
    """Copy the base to where it is to be seen, but for what is mounted there already."""
    lower = request.lower
    if lower is None:
        return
    mounted = {os.path.normpath(f"{lower.path}/{path}") for path in lower.protected}
    for bind in request.binds:
        if places.inside(bind.target, lower.mount_at):
            mounted.add(lower.path + bind.target[len(lower.mount_at.rstrip("/")) :])

    def skip(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if os.path.join(folder, name) in mounted}

    shutil.copytree(lower.path, lower.mount_at, symlinks=True, ignore=skip, dirs_exist_ok=True)
