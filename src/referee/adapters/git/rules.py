"""What decides which files git ignores, apart from the `.gitignore` files among the repository's own."""

from __future__ import annotations

import hashlib
import os

from referee.adapters.git.git import Git


def rules(git: Git, root: bytes, folder: bytes) -> str:
    """A digest of the settings and the exclude files that hold in a repository; empty if it cannot be told."""
    if os.path.lexists(os.path.join(folder, b"commondir")):
        return ""  # a linked work tree has its exclude file elsewhere
    settings, environ = git.settings(folder), git.environ({})
    named = os.fsencode(settings.get("core.excludesfile", ("",))[-1])
    home = environ.get(b"HOME", b"")
    if not named:
        named = os.path.join(environ.get(b"XDG_CONFIG_HOME") or os.path.join(home, b".config"), b"git", b"ignore")
    elif named.startswith(b"~/"):
        named = os.path.join(home, named[2:])
    elif not named.startswith(b"/"):
        return ""
    digest = hashlib.sha256(repr(sorted(settings.items())).encode("utf-8", "surrogateescape"))
    for path in (named, os.path.join(folder, b"info", b"exclude")):
        try:
            with open(path, "rb") as file:
                digest.update(b"\0" + hashlib.sha256(file.read()).digest())
        except (FileNotFoundError, NotADirectoryError):
            digest.update(b"\0")
        except OSError:
            return ""
    return digest.hexdigest()
