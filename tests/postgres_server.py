"""A PostgreSQL of the tests' own, on a free port of loopback, run by an ordinary user."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> str | None:
    """The folder of the server's programs, if it is installed."""
    found = shutil.which("initdb")
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return str(Path(found).resolve().parent) if found else places[0] if places else None


@contextmanager
def running(place: str, *, safe: bool = False) -> Iterator[str]:
    """The address of a new database; `safe` waits for the disk as a real server does, for measuring."""
    with tempfile.TemporaryDirectory(prefix="pg-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        who: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chmod(folder, 0o755)
            os.chown(folder, 65534, 65534)
            who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        data = f"{folder}/data"
        initdb = [*who, f"{place}/initdb", "-D", data, "-U", "shop", "-A", "trust", "--no-sync", "-E", "UTF8"]
        made = subprocess.run(initdb, capture_output=True, text=True, cwd=folder, check=False)
        assert made.returncode == 0, made.stderr
        settings = f"-h 127.0.0.1 -p {port} -k {folder} -c shared_buffers=16MB -c max_connections=60"
        settings += "" if safe else " -F"
        serve = [*who, f"{place}/pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start"]
        started = subprocess.run(serve, capture_output=True, text=True, cwd=folder, check=False)
        assert started.returncode == 0, started.stderr + started.stdout
        try:
            yield f"postgresql://shop@127.0.0.1:{port}/postgres"
        finally:
            stop = [*who, f"{place}/pg_ctl", "-D", data, "-m", "immediate", "stop"]
            subprocess.run(stop, capture_output=True, cwd=folder, check=False)
