"""Where to look: the repository, and the user's programs and caches outside it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from referee.domain.value import Value
from referee.ports import Mount


class Place(Value):
    """`root` is the repository's, `tracked` are the paths in its tree, `environ` is the user's environment."""

    root: str
    environ: Mapping[str, str]
    tracked: frozenset[str] = frozenset()

    @property
    def home(self) -> str:
        """The user's home folder."""
        return self.environ.get("HOME") or os.path.expanduser("~")

    def program(self, name: str) -> str:
        """The path of a program on the user's PATH, before its links are followed; empty if there is none.

        What lies in the repository is never taken: it is not the user's choice.
        """
        found = shutil.which(name, path=self.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")) or ""
        return "" if _within(os.path.realpath(found), self.root) else found

    def under_home(self, variable: str, *default: str) -> str:
        """The folder that `variable` names, else `default` below the home folder."""
        return self.environ.get(variable) or os.path.join(self.home, *default)

    def installation(self, prefix: str) -> tuple[Mount, ...]:
        """What shows an installation; nothing if it is in /usr, which is always there.

        A folder that holds the home folder or the repository is not shown.
        """
        real = os.path.realpath(prefix)
        if _within(real, "/usr"):
            return ()
        if any(_within(os.path.realpath(kept), real) for kept in (self.home, self.root)):
            return ()
        return (Mount(source=real, target=real),)


def _within(path: str, folder: str) -> bool:
    return bool(path) and (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")
