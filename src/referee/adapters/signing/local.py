"""A key of this person on this machine, made on first use: a secret that only they can read."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress

from referee.domain.errors import WorldFault

BYTES = 32


class LocalKey:
    """Signs with HMAC-SHA256. It proves that somebody with this account said so, and not which person that was."""

    def __init__(self, path: str) -> None:
        self._path = path

    def sign(self, message: bytes) -> tuple[str, str]:
        """Who signs, and the signature in hex; makes the key if there is none. Raises `WorldFault`."""
        key = self._read() or self._make()
        return _name(key), hmac.new(key, message, hashlib.sha256).hexdigest()

    def objection(self, message: bytes, signature: str, by: str) -> str:
        """Why the signature is not this key's over `message`; empty if it is."""
        key = self._read()
        if key is None:
            return "there is no local key on this machine, so it was not made here"
        right = hmac.new(key, message, hashlib.sha256).hexdigest()
        if by != _name(key) or not hmac.compare_digest(right.encode(), signature.encode("utf-8", "replace")):
            return "it is not a signature of the local key over this question"
        return ""

    def _read(self) -> bytes | None:
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WorldFault(f"the key {self._path} cannot be read: {error.strerror}") from error
        with open(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077 or status.st_uid != os.geteuid():
                raise WorldFault(
                    f"the key {self._path} must be a file of yours that nobody else can use; chmod 600 it, "
                    "or delete it if others may have read it: a new one is made at the next signature"
                )
            key = file.read()
        if len(key) != BYTES:
            raise WorldFault(f"the key {self._path} is damaged; delete it: a new one is made at the next signature")
        return key

    def _make(self) -> bytes:
        folder = os.path.dirname(self._path)
        beside = f"{self._path}.{secrets.token_hex(4)}"
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with open(fd, "wb") as file:
                    file.write(secrets.token_bytes(BYTES))
                    file.flush()
                    os.fsync(fd)
                with suppress(FileExistsError):  # two made one at once: the first stays
                    os.link(beside, self._path)
            finally:
                os.unlink(beside)
        except OSError as error:
            raise WorldFault(f"no key could be made at {self._path}: {error.strerror}") from error
        key = self._read()
        if key is None:
            raise WorldFault(f"the key {self._path} is gone as soon as it is made; look who deletes it")
        return key


def _name(key: bytes) -> str:
    return f"local key {hashlib.sha256(b'referee key name' + key).hexdigest()[:12]}"
