"""Commands that reach other machines in the person's own name: git push, gh, glab. Nothing else is run this way."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from referee.adapters.git.git import Finished, absolute

SECONDS = 120.0
# Not ext, by which an address is a command; not file: the hooks and settings of a folder on this machine would run.
PROTOCOLS = "https:http:ssh:git"
# Which repository is meant is said by the folder; how to reach and identify stays as the person has it.
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GH_PROMPT_DISABLED": "1",
    "NO_PROMPT": "1",
    "NO_COLOR": "1",
    "LC_ALL": "C.UTF-8",  # their words are read
}
_NEUTRAL = {"core.fsmonitor": "false", "core.hooksPath": "/dev/null"}


def installed(program: str) -> bool:
    """Whether a program is on the person's path."""
    return shutil.which(program, path=_path()) is not None


def outside(command: Sequence[str], folder: bytes, stdin: str = "") -> Finished | None:
    """How the command ended; None if it did not in two minutes: then nobody knows what it did."""
    environ = {k: v for k, v in os.environ.items() if k not in _PLACES} | _QUIET | {"PATH": _path()}
    environ.setdefault("GIT_ALLOW_PROTOCOL", PROTOCOLS)
    count = int(environ.get("GIT_CONFIG_COUNT") or 0)
    for n, (key, value) in enumerate(_NEUTRAL.items(), start=count):  # gh and glab run git themselves
        environ |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    environ["GIT_CONFIG_COUNT"] = str(count + len(_NEUTRAL))
    try:
        ended = subprocess.run(
            list(command),
            input=stdin.encode("utf-8", "replace"),
            capture_output=True,
            cwd=folder,
            env=environ,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return Finished(code=127, out=b"", words=str(error))
    return Finished(code=ended.returncode, out=ended.stdout, words=ended.stderr.decode("utf-8", "replace").strip())


def _path() -> str:
    return absolute(os.environ.get("PATH", os.defpath))
