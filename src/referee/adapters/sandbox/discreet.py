"""A sandbox whose results hold no known secret, whatever a command printed or reported."""

from __future__ import annotations

import hashlib
import hmac

from referee.domain.redaction import Redaction
from referee.ports import Command, Execution, Isolation, Job, Sandbox, Warm


class DiscreetWarm:
    """See `Warm`."""

    def __init__(self, inner: Warm, redaction: Redaction) -> None:
        self._inner, self._redaction = inner, redaction

    def run(self, job: Job) -> Execution:
        """The job's result without secrets."""
        return discreet(self._inner.run(job), self._redaction)

    def close(self) -> None:
        """End the process."""
        self._inner.close()


class DiscreetSandbox:
    """See `Sandbox`."""

    def __init__(self, inner: Sandbox, redaction: Redaction) -> None:
        self._inner, self._redaction = inner, redaction

    @property
    def isolation(self) -> Isolation:
        """The inner one's."""
        return self._inner.isolation

    def run(self, command: Command) -> Execution:
        """The command's result without secrets."""
        return discreet(self._inner.run(command), self._redaction)

    def warm(self, command: Command) -> Warm:
        """The same for a warm process."""
        return DiscreetWarm(self._inner.warm(command), self._redaction)

    def close(self) -> None:
        """Close the inner one."""
        self._inner.close()


def discreet(execution: Execution, redaction: Redaction) -> Execution:
    """The execution without known secrets. A frame that was signed is signed again: it was genuine, and still is."""
    update = {"stdout": redaction.data(execution.stdout), "stderr": redaction.data(execution.stderr)}
    lines = execution.channel.split(b"\n")
    update["channel"] = b"\n".join(_line(line, execution.key, redaction) for line in lines)
    changed = {name: data for name, data in update.items() if data != getattr(execution, name)}
    return execution.model_copy(update=changed) if changed else execution


def _line(line: bytes, key: bytes, redaction: Redaction) -> bytes:
    mac, _, data = line.partition(b" ")
    if key and hmac.compare_digest(mac, _signed(key, data)):
        clean = redaction.data(data)
        return line if clean == data else _signed(key, clean) + b" " + clean
    return redaction.data(line)


def _signed(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).hexdigest().encode()
