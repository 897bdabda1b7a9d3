"""The harness's side of a fork server: handing over requests, and turning reports into executions."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

from referee.adapters.sandbox.stage.request import Request, encode
from referee.adapters.sandbox.streams import Capped, Stream, Whole, drain
from referee.domain.errors import WorldFault
from referee.ports import Execution, Isolation, Limits

_SPARE_SECONDS = 60.0  # for setting up and tearing down, beyond a command's own wall-clock limit
_KEY_BYTES = 32


@dataclass
class _Open:
    """Descriptors to close whatever happens: `theirs` once handed over, `ours` at the end."""

    theirs: list[int] = field(default_factory=list)
    ours: list[int] = field(default_factory=list)

    def pipe(self, owner: tuple[int, int] | None) -> tuple[int, int]:
        """A pipe that the command's user may open again by name, as `/dev/stdout` does."""
        out, into = os.pipe()
        if owner is not None:
            os.fchown(into, *owner)
        return out, into

    def give(self, fd: int) -> int:
        self.theirs.append(fd)
        return fd

    def keep(self, fd: int) -> int:
        self.ours.append(fd)
        return fd

    def close(self, which: list[int]) -> None:
        while which:
            os.close(which.pop())


@contextlib.contextmanager
def _descriptors() -> Iterator[_Open]:
    held = _Open()
    try:
        yield held
    finally:
        held.close(held.theirs)
        held.close(held.ours)


class ForkServer:
    """Runs requests through the server behind `jobs`. Safe to use from several threads."""

    def __init__(self, jobs: socket.socket, isolation: Isolation) -> None:
        self._jobs, self._isolation = jobs, isolation

    def run(self, request: Request, contents: list[bytes], limits: Limits) -> Execution:
        """Run one request to its end. Raises `WorldFault` if it could not be started as asked."""
        with _descriptors() as held:
            control, there = socket.socketpair()
            held.give(there.detach())
            held.keep(control.fileno())
            control_fd = control.detach()
            streams: dict[int, Stream] = {}
            for _ in ("stdout", "stderr"):
                out, into = held.pipe(request.owner)
                held.give(into)
                streams[held.keep(out)] = Capped(limits.output_bytes)
            key = self._channel(held, request, limits, streams) if request.channel else b""
            self._submit(held, request, contents)
            with socket.socket(fileno=os.dup(control_fd)) as wire:
                raw = drain(streams, wire, limits.wall_seconds + _SPARE_SECONDS)
            return _execution(raw, list(streams.values()), key, self._isolation)

    def _channel(self, held: _Open, request: Request, limits: Limits, streams: dict[int, Stream]) -> bytes:
        key = secrets.token_bytes(_KEY_BYTES)
        key_out, key_in = held.pipe(request.owner)
        held.give(key_out)
        os.write(key_in, key)
        os.close(key_in)
        frames_out, frames_in = held.pipe(request.owner)
        held.give(frames_in)
        streams[held.keep(frames_out)] = Whole(limits.channel_bytes)
        return key

    def _submit(self, held: _Open, request: Request, contents: list[bytes]) -> None:
        memory = os.memfd_create("request")
        held.theirs.insert(0, memory)
        view = memoryview(encode(request, contents))
        while view:
            view = view[os.write(memory, view) :]
        hand_over(self._jobs, held.theirs)
        held.close(held.theirs)


def hand_over(jobs: socket.socket, descriptors: list[int]) -> None:
    """Send one request's descriptors. Raises `WorldFault` if the server is gone."""
    try:
        socket.send_fds(jobs, [b"r"], descriptors)
    except OSError as e:
        raise WorldFault(f"the sandbox's server has ended ({e.strerror}); run the command again") from e


def _execution(raw: bytes, streams: list[Stream], key: bytes, isolation: Isolation) -> Execution:
    try:
        report = json.loads(raw)
    except ValueError as e:
        raise WorldFault("the sandbox ended without saying how; see the kernel log for what killed it") from e
    if report["fault"] is not None:
        raise WorldFault(f"the sandbox could not be set up: {report['fault']}")
    out, err, *channel = streams
    return Execution(
        exit_code=None if report["killed_by"] else report["exit_code"],
        killed_by=report["killed_by"],
        stdout=out.content,
        stderr=err.content,
        stdout_total=out.total,
        stderr_total=err.total,
        channel=channel[0].content if channel else b"",
        key=key,
        duration_ms=round(report["seconds"] * 1000),
        cpu_seconds=round(report["cpu"], 3),
        peak_memory_bytes=report["peak"],
        left_processes=report["left"],
        isolation=isolation,
    )
