"""From an exception to a message and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback

from referee.cli.place import repository
from referee.config import DEBUG, root_of, secret
from referee.domain.errors import Diverged, Interrupt, RefereeError, Suspended, UsageError
from referee.render.plain import plain

_BUG, _WORLD, _STOPPED, _WAITING = 70, 69, 130, 4
_WORLD_ERRORS = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the file system is read-only; make it writable or work on a copy",
    errno.EMFILE: "too many files are open; raise the limit with ulimit -n",
    errno.ENFILE: "this machine has no file descriptors left",
    errno.ENOMEM: "this machine has no memory left",
}


def ending(fault: BaseException) -> int:
    """Say on stderr what happened and who must act; the exit code."""
    if secret(DEBUG):
        traceback.print_exception(fault)
    if isinstance(fault, Suspended):
        say(f"waiting for a person: {fault}")
        return _WAITING
    if isinstance(fault, Interrupt | KeyboardInterrupt):
        say("stopped; nothing of yours is half written")
        return _STOPPED
    if isinstance(fault, BrokenPipeError):
        return 1
    if isinstance(fault, RefereeError) and not isinstance(fault, Diverged):
        say(str(fault))
        return fault.exit_code
    if isinstance(fault, OSError) and fault.errno in _WORLD_ERRORS:
        where = f"{fault.filename}: " if fault.filename else ""
        say(f"{where}{_WORLD_ERRORS[fault.errno]}")
        return _WORLD
    return _bug(fault)


def say(text: str) -> None:
    """One message on stderr, neutralised."""
    print(f"referee: {plain(text)}", file=sys.stderr)


def _bug(fault: BaseException) -> int:
    kind = type(fault).__name__
    words = " ".join(str(fault).split())[:300]
    say(f"this is a bug in referee, not in your code: {kind}: {words}")
    trace = "".join(traceback.format_exception(fault))
    path = _keep(trace)
    say(f"nothing of yours is half written; please report it with {path}" if path else f"\n{trace}")
    return _BUG


def _keep(trace: str) -> str | None:
    """The path of a new private file with the traceback, beside the record if there is one."""
    try:
        state = os.path.join(root_of(repository.get()), ".harness")
        folder = state if os.path.isdir(state) else None
    except UsageError:
        folder = None
    try:
        descriptor, path = tempfile.mkstemp(prefix="crash-", suffix=".txt", dir=folder)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(trace)
    except OSError:
        return None  # the caller prints the traceback instead
    return path
