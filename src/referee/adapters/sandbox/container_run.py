"""One container from start to end: its mounted files and pipes, its output, and how it ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from referee.adapters.sandbox.forkserver import report_of
from referee.adapters.sandbox.stage import boxed
from referee.adapters.sandbox.streams import Capped, Stream, Whole
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation

_CHUNK = 1 << 16
_SPARE_SECONDS, _NAP = 60.0, 0.5
_KEY_BYTES, _REPORT_BYTES = 32, 1 << 16


@dataclass(frozen=True)
class Engine:
    """An engine and the container of it that is meant."""

    program: str
    name: str

    def order(self, *words: str) -> None:
        """Tell the engine to do something with the container, whether or not that is still there."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([self.program, *words, self.name], capture_output=True, timeout=30, check=False, cwd="/")


class Box:
    """The folder that is shown to a container, with the request in it and pipes; all are gone on leaving.

    The report comes behind a secret that is read before the command starts, so the command cannot forge one.
    """

    def __init__(self, body: bytes, command: Command, owner: tuple[int, int]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="referee-box-")
        self.folder, self._owner, self._limits = self._folder.name, owner, command.limits
        self._secret, self.key = os.urandom(boxed.SECRET_BYTES), os.urandom(_KEY_BYTES) if command.channel else b""
        self._report, self._frames = Whole(_REPORT_BYTES), Whole(self._limits.channel_bytes)
        self._pipes: dict[int, Stream] = {self._pipe("report"): self._report}
        self._held = [self._pipe("secret", self._secret)]
        if command.channel:
            self._held.append(self._pipe("key", self.key))
            self._pipes[self._pipe("frames")] = self._frames
        with open(f"{self.folder}/request", "xb") as file:
            file.write(body)
        if os.geteuid() == 0:
            for path in (self.folder, *(os.path.join(self.folder, name) for name in os.listdir(self.folder))):
                os.chown(path, *owner)

    def __enter__(self) -> Box:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for fd in (*self._pipes, *self._held):
            os.close(fd)
        self._folder.cleanup()

    def run(self, engine: Engine, argv: list[str], isolation: Isolation) -> Execution:
        """Start the container and see it through. Raises `WorldFault` if it could not be started as asked."""
        most = self._limits.output_bytes
        stdout, stderr = Capped(most, "stdout"), Capped(most, "stderr")
        process = subprocess.Popen(
            [engine.program, *argv],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        streams: dict[int, Stream] = {process.stdout.fileno(): stdout, process.stderr.fileno(): stderr}
        try:
            flooded = self._follow(process, streams, engine)
        finally:
            if process.poll() is None:
                engine.order("rm", "--force")
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        return self._execution(flooded, stdout, stderr, isolation)

    def _follow(self, process: subprocess.Popen[bytes], streams: Mapping[int, Stream], engine: Engine) -> bool:
        """Read everything until the engine has ended; whether it was stopped because too much was written."""
        deadline = time.monotonic() + self._limits.wall_seconds + _SPARE_SECONDS
        poll, all_streams, open_ = select.poll(), {**streams, **self._pipes}, set(streams)
        for fd in all_streams:
            poll.register(fd, select.POLLIN)
        flooded = False
        while open_ or process.poll() is None:
            if time.monotonic() > deadline:
                raise WorldFault(f"{engine.program} did not end the container in time")
            for fd, _ in poll.poll(_NAP * 1000):
                data = os.read(fd, _CHUNK)
                if data:
                    all_streams[fd].feed(data)
                else:
                    poll.unregister(fd)
                    open_.discard(fd)
            if not flooded and any(s.flooded for s in all_streams.values()):
                flooded = True
                engine.order("kill")
        self._drain()
        return flooded

    def _drain(self) -> None:
        """Read what the pipes still hold."""
        for fd, stream in self._pipes.items():
            with contextlib.suppress(BlockingIOError):
                while data := os.read(fd, _CHUNK):
                    stream.feed(data)

    def _execution(self, flooded: bool, stdout: Capped, stderr: Capped, isolation: Isolation) -> Execution:
        _, _, told = self._report.content.partition(self._secret)
        if not told and not flooded:
            said = stderr.content.decode("utf-8", "replace").strip().splitlines()
            raise WorldFault(f"the container could not be started: {said[-1] if said else 'no reason was given'}")
        report = report_of(told[1:]) if told else {}
        killed = "output" if flooded else report["killed_by"]
        if killed == f"signal:{signal.SIGKILL.name}" and told[:1] == b"1":
            killed = "memory"
        return Execution(
            exit_code=None if killed else report["exit_code"],
            killed_by=killed,
            stdout=stdout.content,
            stderr=stderr.content,
            stdout_total=stdout.total,
            stderr_total=stderr.total,
            channel=self._frames.content,
            key=self.key,
            duration_ms=round(report.get("seconds", 0.0) * 1000),
            cpu_seconds=round(report.get("cpu", 0.0), 3),
            peak_memory_bytes=report.get("peak", 0),
            left_processes=report.get("left", False),
            isolation=isolation,
        )

    def _pipe(self, name: str, holds: bytes = b"") -> int:
        """A named pipe, open at both ends so that neither side waits for the other, with `holds` in it."""
        path = f"{self.folder}/{name}"
        os.mkfifo(path, 0o600)
        fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        os.write(fd, holds)
        return fd
