"""Background jobs: a thread each, which waits for a process of its own in the sandbox."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from referee.adapters.sandbox.streams import heard
from referee.domain.errors import RefereeError
from referee.ports import Command, Execution, Job, JobState, Sandbox, Warm

KEPT_BYTES = 1 << 20


class _Running:
    def __init__(self, name: str, warm: Warm, job: Job) -> None:
        self._name, self._warm, self._job = name, warm, job
        self._lock, self._began = threading.Lock(), time.monotonic()
        self._output, self._total = bytearray(), 0
        self._ended: Execution | None = None
        self._seconds: float | None = None
        self._thread = threading.Thread(target=self._run, name=f"job {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with heard(self._hear):
                ended = self._warm.run(self._job)
            with self._lock:
                self._ended = ended
        except (RefereeError, OSError):
            pass  # it was killed: closing its process is how that is done
        finally:
            self._seconds = time.monotonic() - self._began

    def _hear(self, stream: str, data: bytes) -> None:
        with self._lock:
            self._total += len(data)
            self._output += data
            del self._output[:-KEPT_BYTES]

    def state(self, wait: float = 0.0) -> JobState:
        if wait:
            self._thread.join(wait)
        running = self._thread.is_alive()
        seconds = time.monotonic() - self._began if self._seconds is None else self._seconds
        with self._lock:
            return JobState(
                name=self._name, running=running, output=bytes(self._output), total=self._total,
                seconds=round(seconds, 1), ended=self._ended,
            )  # fmt: skip

    def kill(self) -> None:
        self._warm.close()
        self._thread.join(5.0)


class ThreadJobs:
    """See `ports.Jobs`. `sandbox` is opened when the first job starts."""

    def __init__(self, sandbox: Callable[[], Sandbox]) -> None:
        self._sandbox, self._jobs = sandbox, dict[str, _Running]()

    def start(self, name: str, command: Command, job: Job) -> None:
        """See `ports.Jobs`."""
        self._jobs[name] = _Running(name, self._sandbox().warm(command), job)

    def look(self, name: str) -> JobState:
        """See `ports.Jobs`."""
        return self._jobs[name].state() if name in self._jobs else JobState(name=name, known=False)

    def wait(self, name: str, seconds: float) -> JobState:
        """See `ports.Jobs`."""
        return self._jobs[name].state(seconds) if name in self._jobs else JobState(name=name, known=False)

    def kill(self, name: str) -> JobState:
        """See `ports.Jobs`."""
        if name in self._jobs:
            self._jobs[name].kill()
        return self.look(name)

    def names(self) -> tuple[str, ...]:
        """In the order in which they were started."""
        return tuple(self._jobs)

    def close(self) -> None:
        """Kill all that still run."""
        for job in self._jobs.values():
            job.kill()
