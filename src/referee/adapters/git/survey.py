"""Which files a snapshot records, and which stay where they are: secrets, what is huge, what is no file."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterable

from referee.adapters.git.names import decode, parents, shown
from referee.domain.errors import UsageError

# Untracked files of these names stay on the user's disk: no copy of them is stored or mounted.
SECRETS = (
    ".env*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "*.pem", "*.key", "*.p12",
    "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    "credentials", "credentials.*", "secrets", "secrets.*", "*service-account*.json", "*service_account*.json",
    *(f"*{folder}/*" for folder in (".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud")),
)  # fmt: skip
UNTRACKED_BYTES = 64 << 20
EXTRA_BYTES = 512 << 20  # of all extra files together
SECRET = "looks like a secret"  # noqa: S105 - a reason


class Survey:
    """Which of the listed files are there to be recorded; the others by name, with the reason."""

    def __init__(self, root: bytes) -> None:
        self.found: list[bytes] = []
        self.omitted: list[tuple[bytes, str]] = []
        self.along: list[bytes] = []
        self.missed: list[bytes] = []  # ignored, wanted, and no regular file now
        self._root = root
        self._folders: dict[bytes, bool] = {}

    def add(self, paths: Iterable[bytes]) -> None:
        """Record files and symlinks. What is missing, or behind a symlink, is not there."""
        for path in paths:
            facts = self._facts(path)
            if facts is not None and self._storable(path, facts):
                self.found.append(path)

    def add_extra(self, paths: Iterable[bytes]) -> None:
        """Record ignored files up to a total size."""
        room = EXTRA_BYTES
        for path in paths:
            facts = self._facts(path)
            if facts is None or not stat.S_ISREG(facts.st_mode):
                self.missed.append(path)
                continue
            if self.secret(path):
                continue
            if facts.st_size > min(room, UNTRACKED_BYTES):
                self.omitted.append((path, "ignored and too large"))
                continue
            room -= facts.st_size
            self.found.append(path)
            self.along.append(path)

    def secret(self, path: bytes) -> bool:
        """Whether an untracked file must not be copied; it is noted as left out."""
        hidden = bool(LOOKS_SECRET.match(decode(path.lower())))
        if hidden:
            self.omitted.append((path, SECRET))
        return hidden or self._large(path)

    def storable(self, path: bytes) -> bool:
        """Whether what was left out for its size or its kind is now a file that would be copied."""
        facts = self._facts(path)
        return facts is not None and stat.S_ISREG(facts.st_mode) and facts.st_size <= UNTRACKED_BYTES

    def _large(self, path: bytes) -> bool:
        facts = self._facts(path)
        large = facts is not None and facts.st_size > UNTRACKED_BYTES
        if large:
            self.omitted.append((path, f"untracked and larger than {UNTRACKED_BYTES >> 20} MiB"))
        return large

    def _storable(self, path: bytes, facts: os.stat_result) -> bool:
        kind = stat.S_IFMT(facts.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR):
            self.omitted.append((path, "neither a file, a folder nor a symlink"))
        return kind in (stat.S_IFREG, stat.S_IFLNK)

    def _facts(self, path: bytes) -> os.stat_result | None:
        if not self._inside(path.rpartition(b"/")[0]):
            return None
        try:
            return os.lstat(self._root + b"/" + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise UsageError(f"{shown(path)} cannot be reached; make its folder readable (chmod u+rx)") from error

    def _inside(self, folder: bytes) -> bool:
        if not folder:
            return True
        known = self._folders.get(folder)
        if known is None:
            known = all(_is_folder(self._root + b"/" + p) for p in (*parents(folder), folder))
            self._folders[folder] = known
        return known


def _is_folder(path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for shell patterns; those with a slash match whole paths, the others names."""
    return re.compile("|".join(("" if "/" in p else "(?:.*/)?") + fnmatch.translate(p) for p in patterns), re.DOTALL)


LOOKS_SECRET = any_of(SECRETS)
