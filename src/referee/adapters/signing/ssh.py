"""Signatures by SSH keys, made and checked by `ssh-keygen -Y`."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from referee.domain.errors import UsageError, WorldFault

NAMESPACE = "referee"
SECONDS = 30.0


class SshKeys:
    """Who may sign with which key is what the allowed signers file says (see ssh-keygen(1))."""

    def __init__(self, allowed: str) -> None:
        self._allowed = allowed

    def sign(self, message: bytes, key: str) -> tuple[str, str]:
        """Who signs, and the armoured signature. May ask for the passphrase on the terminal.

        Raises `UsageError` if the key cannot be used or is not that of an allowed signer.
        """
        if not os.path.isfile(key):
            raise UsageError(f"there is no key {key}; give --ssh-key the file of a private key, or of its public half")
        done = _keygen(["-Y", "sign", "-q", "-f", key, "-n", NAMESPACE], message, None)
        signature = done.stdout.decode("ascii", "replace")
        if done.returncode != 0 or not signature.startswith("-----BEGIN SSH SIGNATURE-----"):
            raise UsageError(f"{key} cannot sign: {_words(done)}")
        by = self._owner(signature)
        if not by:
            raise UsageError(
                f"the key {key} is not among the allowed signers in {self._allowed}; add a line there: NAME, a space, "
                f"and the content of the public key's file"
            )
        return by, signature

    def objection(self, message: bytes, signature: str, by: str) -> str:
        """Why the signature is not one by `by` over `message`; empty if it is."""
        if not by or by != self._owner(signature):  # one key is one person, whatever names it matches
            return f"its key is not that of {by or 'anybody'} among the allowed signers"
        with _written(signature) as path:
            done = _keygen(
                ["-Y", "verify", "-f", self._usable(), "-I", by, "-n", NAMESPACE, "-s", path], message, SECONDS
            )
        return "" if done.returncode == 0 else f"ssh-keygen does not accept it as a signature of {by}: {_words(done)}"

    def _owner(self, signature: str) -> str:
        """The first name that the allowed signers file has for the key of a signature; empty for none."""
        with _written(signature) as path:
            found = _keygen(["-Y", "find-principals", "-s", path, "-f", self._usable()], b"", SECONDS)
        names = found.stdout.decode("utf-8", "replace").splitlines()
        return names[0] if found.returncode == 0 and names else ""

    def _usable(self) -> str:
        """The allowed signers file, if nobody but its owner decides who is in it."""
        try:
            status = os.stat(self._allowed)
        except OSError:
            raise UsageError(
                f"SSH keys count only if they are listed in {self._allowed}, which cannot be read; make it: one line "
                "per person, a NAME, a space, and the content of the public key's file"
            ) from None
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or status.st_uid not in (0, os.geteuid()):
            raise UsageError(f"{self._allowed} can be changed by others; make it yours and chmod 644 it")
        return self._allowed


@contextmanager
def _written(signature: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="referee-", suffix=".sig") as file:
        file.write(signature.encode("utf-8", "replace"))
        file.flush()
        yield file.name


def _keygen(arguments: list[str], message: bytes, seconds: float | None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments], input=message, capture_output=True, timeout=seconds, check=False
        )
    except FileNotFoundError:
        raise WorldFault("ssh-keygen is not installed; on Debian and Ubuntu: apt-get install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise WorldFault("ssh-keygen did not answer; try again") from None


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[:300] or "it gives no reason"
