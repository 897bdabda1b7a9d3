"""What probing found, kept until anything that could change it has changed."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from referee.adapters.sandbox.advice import sysctls
from referee.adapters.sandbox.requests import HERE
from referee.adapters.sandbox.stage import kernel

NAME = "sandbox-probes.json"
_PROGRAMS = ("bwrap", "podman", "docker", "crun", "runc")


def recall(folder: str) -> list[Any]:
    """What was kept under the same circumstances, else nothing."""
    # An unreadable or foreign file costs only the seconds that probing takes.
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with open(os.path.join(folder, NAME), encoding="utf-8") as file:
            kept = json.load(file)
        if kept["circumstances"] == circumstances() and isinstance(kept["backends"], list):
            return list(kept["backends"])
    return []


def keep(folder: str, backends: Sequence[Any]) -> None:
    """Keep what was found. A folder that cannot be written to is no reason to fail."""
    path = os.path.join(folder, NAME)
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump({"circumstances": circumstances(), "backends": list(backends)}, file)
        os.replace(f"{path}.{os.getpid()}", path)


def circumstances() -> str:
    """Whatever, if it changes, makes an earlier finding worthless."""
    try:
        release = version("referee")
    except PackageNotFoundError:
        release = ""
    with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
        boot = file.read().strip()
    own = [f"{folder}/{name}" for folder in (HERE, f"{HERE}/stage") for name in sorted(os.listdir(folder))]
    programs = [shutil.which(name) or "" for name in _PROGRAMS]
    stamps = [_stamp(path) for path in (*own, *programs, sys.executable) if path]
    return json.dumps([release, boot, platform.release(), os.getuid(), sysctls(), kernel.landlock_version(), stamps])


def _stamp(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns
