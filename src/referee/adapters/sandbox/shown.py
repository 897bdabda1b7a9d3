"""What a sandbox that another program builds must be shown of the host, or instead of it."""

from __future__ import annotations

import os
import tempfile

from referee.adapters.sandbox.requests import sandbox_owner
from referee.adapters.sandbox.stage import system


def prefixes(python: str) -> list[str]:
    """The folders that `python` needs inside, where /usr does not have them."""
    folders = {os.path.dirname(os.path.dirname(python))}
    return sorted(f for f in folders if f != "/usr" and not f.startswith("/usr/"))


def made_up_etc() -> tempfile.TemporaryDirectory[str]:
    """A folder whose `etc` holds what programs look for there and nothing of the host's."""
    owner = sandbox_owner() or (os.getuid(), os.getgid())
    folder = tempfile.TemporaryDirectory(prefix="referee-")
    os.makedirs(f"{folder.name}/etc/ssl")
    system.write_etc(folder.name, *owner)
    for path in system.ETC_FOLDERS:
        if os.path.isdir(path):
            os.makedirs(folder.name + path, exist_ok=True)
    with open(f"{folder.name}/etc/gitconfig", "w", encoding="ascii") as file:
        file.write("[safe]\n\tdirectory = *\n")  # a container's writable places belong to root
    return folder
