"""How much a tree of processes uses, read from /proc of its pid namespace."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_INTERVAL = 0.02
_RECORD = 1.05  # measure shared memory exactly only when a peak is beaten by this much


@dataclass
class Sample:
    """One look at the tree: bytes resident (pages shared by several count in each), CPU seconds, threads."""

    resident: int = 0
    cpu: float = 0.0
    tasks: int = 0
    pids: tuple[str, ...] = ()


class Tree:
    """All processes of a pid namespace, seen through the namespace's own /proc; `init` is not measured."""

    def __init__(self, init: int = 1) -> None:
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._init = str(init)
        self.peak = 0
        self._highest = 0

    def names(self) -> list[str]:
        """The process ids, as text."""
        return [name for name in os.listdir(self._proc) if name.isdigit()]

    def sample(self) -> Sample:
        """Look once. A process that ends meanwhile is left out."""
        found, pids = Sample(), []
        for name in self.names():
            try:
                fields = self._read(f"{name}/stat").rpartition(b")")[2].split()
            except OSError:
                continue
            found.cpu += sum(int(f) for f in fields[11:15]) / _TICKS
            if name != self._init:
                found.resident += int(fields[21]) * _PAGE
                found.tasks += int(fields[17])
                pids.append(name)
        found.pids = tuple(pids)
        return found

    def exceeds(self, sample: Sample, limit: int | None) -> bool:
        """Whether the tree holds more than `limit` bytes, shared pages counted once; keeps `peak`."""
        beaten = sample.resident > self._highest * _RECORD
        over = limit is not None and sample.resident > limit
        if not (beaten or over):
            return False
        self._highest = max(self._highest, sample.resident)
        exact = sample.resident if len(sample.pids) < 2 else self._proportional(sample)
        self.peak = max(self.peak, exact)
        return limit is not None and exact > limit

    def _proportional(self, sample: Sample) -> int:
        """Resident bytes with each shared page divided among those who share it."""
        total = 0
        for pid in sample.pids:
            try:
                rollup = self._read(f"{pid}/smaps_rollup")
            except OSError:
                continue
            for line in rollup.splitlines():
                if line.startswith(b"Pss:"):
                    total += int(line.split()[1]) * 1024
                    break
        return min(total, sample.resident) if total else sample.resident

    def _read(self, path: str) -> bytes:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
        try:
            return os.read(fd, 1 << 14)
        finally:
            os.close(fd)


class Descendants(Tree):
    """All descendants of a process and itself, where there is no pid namespace to name them."""

    def names(self) -> list[str]:
        """The process ids, as text; `init` first."""
        found = [self._init]
        for name in found:
            found += self._children(name)
        return found

    def _children(self, name: str) -> list[str]:
        children: list[str] = []
        try:
            for thread in os.listdir(f"/proc/{name}/task"):
                children += self._read(f"{name}/task/{thread}/children").decode().split()
        except OSError:
            return children  # it has ended meanwhile
        return children


class Pace:
    """When to look next: every 20 ms, less often when looking takes long."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _INTERVAL

    def wait(self) -> float:
        """Seconds until the next look."""
        return max(0.0, self._next - time.monotonic())

    def looked(self, began: float) -> None:
        """A look that began at `began` has ended."""
        now = time.monotonic()
        self._next = max(began + _INTERVAL, now + (now - began))
