"""The warm process: loads an entry script once, then forks a sandboxed child of itself for each job."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import os
import socket
import sys
import threading
import traceback
from types import ModuleType
from typing import NoReturn

from . import server
from .ground import Namespaces

_JOBS = 3  # the descriptor on which jobs arrive


def main(script: str) -> NoReturn:
    """Load `script`, say so, and serve. In a job's own process: call its `main` and end."""
    jobs = socket.socket(fileno=_JOBS)
    sys.argv = [script]
    module = _load(script)
    null = os.open("/dev/null", os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)
    os.close(null)
    gc.collect()
    gc.freeze()
    jobs.sendall(b"ready")
    call = server.serve(jobs, Namespaces())
    if call is None:
        os._exit(0)
    jobs.close()
    _make(module, list(call))


def _load(script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("referee_entry", script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _make(module: ModuleType, argv: list[str]) -> NoReturn:
    """Call `main(argv)` and end as an interpreter would, without the cost of taking everything apart."""
    sys.argv = [sys.argv[0], *argv]
    try:
        result = module.main(argv)
        code = 0 if result is None else int(result)
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
        if e.code is not None and not isinstance(e.code, int):
            print(e.code, file=sys.stderr)
    except BaseException:  # the same end as an uncaught exception of a script
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120
    os._exit(code & 0xFF)
