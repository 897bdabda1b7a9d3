"""How much a tree of processes uses, read from /proc of its pid namespace."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Optional

from . import held

_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_INTERVAL = 0.02
_VAST = 16 << 30  # addresses, from which on their tables may hold more than 32 MiB
_SLOW = 16 << 20  # bytes of tables, which the kernel takes tens of milliseconds to go through
_RECORD = 1.05  # measure shared memory exactly only when a peak is beaten by this much


@dataclass
class Sample:
    """One look at the tree: bytes resident (pages shared by several count in each), CPU seconds, threads.

    `largest` is what one process alone holds; `unseen` bytes are the kernel's, for the tree: page tables, and what
    waits in sockets. `sparse` are processes, with what is resident of each, whose tables are too large to be gone
    through for every page's share.
    """

    resident: int = 0
    largest: int = 0
    unseen: int = 0
    cpu: float = 0.0
    tasks: int = 0
    pids: tuple[str, ...] = ()
    sparse: dict[str, int] = field(default_factory=dict)


class Tree:
    """All processes of a pid namespace, seen through the namespace's own /proc; `init` is not measured."""

    def __init__(self, init: int = 1) -> None:
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._init = str(init)
        self.peak = 0
        self._highest = 0
        self._queues: Optional[held.Queues] = None  # noqa: UP045
        self._cpu: dict[tuple[str, bytes], int] = {}
        self._ended = 0

    def names(self) -> list[str]:
        """The process ids, as text."""
        return [name for name in os.listdir(self._proc) if name.isdigit()]

    def sample(self) -> Sample:
        """Look once. A process that ends meanwhile is left out."""
        found, pids, own = Sample(), [], {}
        for name in self.names():
            try:
                fields = self._read(f"{name}/stat").rpartition(b")")[2].split()
            except OSError:
                continue
            found.cpu += sum(int(f) for f in fields[11:15]) / _TICKS
            own[name, fields[19]] = int(fields[11]) + int(fields[12])
            if name != self._init:
                resident = int(fields[21]) * _PAGE
                found.resident, found.largest = found.resident + resident, max(found.largest, resident)
                found.tasks += int(fields[17])
                tables = self._tables(name) if int(fields[20]) > _VAST else 0
                found.unseen += tables
                found.sparse |= {name: resident} if tables > _SLOW else {}
                pids.append(name)
        found.pids = tuple(pids)
        found.cpu = max(found.cpu, self._spent(own))
        found.unseen += self._waiting(found.pids)
        return found

    def _spent(self, own: dict[tuple[str, bytes], int]) -> float:
        """CPU seconds of all processes ever seen, also of those whose parent does not ask what they used."""
        self._ended += sum(ticks for process, ticks in self._cpu.items() if process not in own)
        self._cpu = own
        return (self._ended + sum(own.values())) / _TICKS

    def _tables(self, name: str) -> int:
        """Bytes of the page tables of a process."""
        try:
            status = self._read(f"{name}/status")
        except OSError:
            return 0
        return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(b"VmPTE:")), 0)

    def _waiting(self, pids: tuple[str, ...]) -> int:
        """Bytes that wait in sockets, asked for only where there are many of them."""
        try:
            if not held.sockets_used(self._read(f"{self._init}/net/sockstat")):
                return 0
            if self._queues is None:
                self._queues = held.Queues()
            return self._queues.total()
        except OSError:
            return 0  # a kernel without such an account

    def exceeds(self, sample: Sample, limit: int | None) -> bool:
        """Whether the tree holds more than `limit` bytes, shared pages counted once; keeps `peak`."""
        certain = sample.unseen + sample.largest
        self.peak = max(self.peak, certain)
        if limit is not None and certain > limit:
            return True
        beaten = sample.resident > self._highest * _RECORD
        over = limit is not None and sample.resident + sample.unseen > limit
        if not (beaten or over):
            return False
        self._highest = max(self._highest, sample.resident)
        exact = sample.unseen + (sample.resident if len(sample.pids) < 2 else self._proportional(sample))
        self.peak = max(self.peak, exact)
        return limit is not None and exact > limit

    def _proportional(self, sample: Sample) -> int:
        """Resident bytes with each shared page divided among those who share it."""
        total = 0
        for pid in sample.pids:
            if pid in sample.sparse:
                total += sample.sparse[pid]
                continue
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

    def _waiting(self, pids: tuple[str, ...]) -> int:
        return sum(held.by_descriptors(pid) for pid in pids)

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
