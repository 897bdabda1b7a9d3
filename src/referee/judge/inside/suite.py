"""Runs another language's test runner as a child and hands what it said outside, signed.

The child never gets the key or the channel. What it is to be told apart by, a test that must fail, is named after
the key, so that its name is in no command line and new for every run.
"""

# ruff: noqa: TID251 - inside the sandbox this is the process that starts the others

from __future__ import annotations

import ctypes
import importlib
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST = 16 << 20  # bytes of each stream that are handed on; a longer report is cut, and then no report
_SET_DUMPABLE = 4  # of prctl


def _own(name: str) -> Any:
    sys.path.insert(0, os.path.dirname(_HERE))
    try:
        return importlib.import_module(f"{os.path.basename(_HERE)}.{name}")
    finally:
        sys.path.pop(0)


def main(argv: list[str]) -> int:
    """Run one suite, described as JSON that may be cut over several arguments."""
    spec = json.loads("".join(argv))
    emit, derive = _own("channel").connect()
    # Processes of the same user may otherwise read this one's memory, and the key in it.
    ctypes.CDLL(None, use_errno=True).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    folder = tempfile.mkdtemp(prefix="referee-")
    canary = {"name": f"referee{derive('canary name')}", "says": f"must fail {derive('canary message')}"}
    emit("canary", canary)
    started = _own("suite_tools").START[spec["kind"]](spec, canary, folder)
    report = f"{folder}/report"
    try:
        done = subprocess.run(started, cwd=spec["cwd"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"there is no program {started[0]!r} in the sandbox; install it and put it on your PATH"
        ) from None
    for name, data in (("stdout", done.stdout), ("stderr", done.stderr), ("report", _read(report))):
        if data is not None:
            emit(name, data[:_MOST].decode("utf-8", "replace"))
    emit("exit", done.returncode)
    return 0


def _read(path: str) -> bytes | None:
    """A report, if it is a plain file: the code under test may have put anything in its place."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        return file.read(_MOST + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
