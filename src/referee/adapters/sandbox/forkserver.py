"""The harness's side of a fork server: starting one, handing over requests, reading how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import Any

from referee.adapters.sandbox.descriptors import Descriptors
from referee.adapters.sandbox.egress import Door
from referee.adapters.sandbox.requests import HERE, sandbox_owner
from referee.adapters.sandbox.stage import kernel
from referee.adapters.sandbox.stage.request import Request, encode
from referee.adapters.sandbox.stage.view import READ_ONLY
from referee.adapters.sandbox.streams import drain, feeder
from referee.domain.errors import WorldFault
from referee.ports import Execution, Isolation, Limits

_SPARE_SECONDS = 60.0  # for setting up and taking down, beyond a command's own wall-clock limit
_BOOT = f"import sys; sys.path.insert(0, {HERE!r}); from stage import server; server.main({{owner!r}}, {{ground!r}})"


class ForkServer:
    """One server process; `ground` says what its commands stand on (see `stage.server.main`).

    If we are root and `owner` is given, commands run as that user. `python` is any Python from 3.9.
    """

    def __init__(self, owner: tuple[int, int] | None, ground: str = "namespaces", python: str = sys.executable) -> None:
        self.jobs, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.closing(theirs), tempfile.TemporaryFile() as log:
            self._process = subprocess.Popen(
                [python, "-I", "-S", "-B", "-c", _BOOT.format(owner=owner, ground=ground)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={},
                cwd="/",
                start_new_session=True,  # or Ctrl-C at the terminal would end it before us
            )

    def close(self) -> None:
        """End the server; everything it runs dies with it."""
        self.jobs.close()
        self._process.kill()
        self._process.wait()


def run(
    jobs: socket.socket,
    request: Request,
    contents: list[bytes],
    limits: Limits,
    isolation: Isolation,
    door: Door | None = None,
) -> Execution:
    """Run one request behind `jobs` to its end. Raises `WorldFault` if it could not be started as asked."""
    source = feeder()
    request = replace(request, fed=source is not None)
    with Descriptors(encode(request, contents), limits, sandbox_owner()) as held:
        if request.channel:
            held.add_channel()
        if source is not None:
            held.add_input(source)
        if door is not None:
            held.add(door.hand_over())
        return carry_out(held, request, jobs, limits, isolation)


def carry_out(
    held: Descriptors, request: Request, jobs: socket.socket, limits: Limits, isolation: Isolation
) -> Execution:
    """Hand over what is held, and wait for the end."""
    submit(held, request, jobs)
    report = report_of(drain(held.streams, held.control, limits.wall_seconds + _SPARE_SECONDS))
    return Execution(
        exit_code=None if report["killed_by"] else report["exit_code"],
        killed_by=report["killed_by"],
        stdout=held.stdout.content,
        stderr=held.stderr.content,
        stdout_total=held.stdout.total,
        stderr_total=held.stderr.total,
        channel=held.channel.content,
        key=held.key,
        duration_ms=round(report["seconds"] * 1000),
        cpu_seconds=round(report["cpu"], 3),
        peak_memory_bytes=report["peak"],
        left_processes=report["left"],
        isolation=isolation,
    )


def submit(held: Descriptors, request: Request, jobs: socket.socket) -> None:
    """Hand a request over. Raises `WorldFault` if what it shows is missing, or nobody is there to take it."""
    if request.handed:
        paths = [*([request.lower.path] if request.lower else []), *(b.source for b in request.binds)]
        for path in paths:
            held.add(_handle(path))
    try:
        held.send(jobs)
    except OSError as e:
        raise WorldFault(f"the sandbox's server has ended ({e.strerror}); run the command again") from e


def _handle(path: str) -> int:
    """A copy of the mounts at `path`, made as root, who can walk to it; the sandbox's user may not."""
    try:
        return kernel.clone_tree(path, READ_ONLY)
    except OSError as e:
        raise WorldFault(f"the sandbox cannot show {path}: {os.strerror(e.errno or 0)}") from e


def report_of(raw: bytes) -> dict[str, Any]:
    """The report of a request. Raises `WorldFault` if there is none, or if it tells of one."""
    try:
        report: dict[str, Any] = json.loads(raw)
    except ValueError as e:
        raise WorldFault("the sandbox ended without saying how; the kernel log may say what killed it") from e
    if report["fault"] is not None:
        raise WorldFault(f"the sandbox could not be set up: {report['fault']}")
    return report
