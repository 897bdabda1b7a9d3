"""Workers as processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from engine_loads import Start


@pytest.fixture
def worker(queue: str, tmp_path: Path) -> Iterator[Start]:
    """Starts workers; those that are left at the end are killed with all that they started."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, slots: int = 2, kind: str = "do") -> subprocess.Popen[bytes]:
        code = f"import engine_loads; engine_loads.serve({name!r}, {slots}, {kind!r})"
        env = {**os.environ, "REFEREE_DATABASE": queue, "PYTHONPATH": str(Path(__file__).parent)}
        log = open(tmp_path / f"worker-{name}.log", "ab")  # noqa: SIM115 - the process has it
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=env, stdout=log, stderr=log, start_new_session=True
        )
        log.close()
        started.append(process)
        return process

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
