"""The way in and the ways out: every ending has its exit code, and none is a bare traceback."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code (see the contract: 0, 1, 2, 4, 69, 70, 130)."""
    # A stream closed by the caller is no reason to fail at the end of a run.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character must not end a run.
            stream.reconfigure(errors="backslashreplace")
    # Until a command takes over, SIGTERM ends the program like Ctrl-C does: nothing has been touched yet.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from referee.cli.app import app

        app(args=None if arguments is None else list(arguments), prog_name="referee")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
    except BaseException as fault:
        from referee.cli.ending import ending

        return ending(fault)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
