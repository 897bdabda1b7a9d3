"""Watching one attack from outside: samples while it lasts, and one close look when it says that it is done."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import threading
import time
from dataclasses import dataclass, field

from referee.adapters.sandbox.attacks import processes
from referee.adapters.sandbox.attacks.inside.main import DONE, LOOKER

_NAP, _PAGE, _TICKS = 0.01, os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_SHORT = 16  # processes, beyond which it takes too long to ask each for its pages
_FEW = 3
_MANY = 24  # descriptors, from which on it is worth asking what they hold


@dataclass
class Seen:
    """What the host saw. Peaks are in tasks, bytes, files and CPU seconds."""

    looked: bool = False
    protected: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    tasks: int = 0
    memory: int = 0
    written: int = 0
    largest: int = 0
    files: int = 0
    descriptors: int = 0
    cpu: float = 0.0


class Watch(threading.Thread):
    """Follows the processes marked `mark`; `counting` says that they are after the machine's resources."""

    def __init__(self, mark: str, counting: bool) -> None:
        super().__init__(daemon=True)
        self._mark, self._counting = mark, counting
        self._over = threading.Event()
        self._used: dict[tuple[int, str], float] = {}
        self._keys = processes.keys()
        self.seen = Seen()

    def run(self) -> None:
        """See `Thread.run`."""
        while not self._over.wait(_NAP):
            pids = processes.marked(self._mark)
            # A process may end or change while it is looked at; the next round sees what is then there.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                self._sample(pids)
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                self._watch(pids)

    def _watch(self, pids: list[int]) -> None:
        """Look closely, once, when the attack says that it is done, and let it end then."""
        names = {pid: processes.named(pid) for pid in pids}
        # The looker is the one that was first: its own children share its name for a moment.
        looker = min((pid for pid, name in names.items() if name in (LOOKER, DONE)), default=0, key=_started)
        if DONE in names.values() and looker and not self.seen.looked:
            # What the attack made is there by now, but perhaps was not yet when the processes were listed.
            self._look(processes.marked(self._mark), looker)
            os.kill(looker, signal.SIGUSR1)

    def finish(self) -> Seen:
        """Stop watching."""
        self._over.set()
        self.join()
        return self.seen

    def _sample(self, pids: list[int]) -> None:
        seen, tasks, memory = self.seen, 0, 0
        for pid in pids:
            fields = processes.text(f"/proc/{pid}/stat").rpartition(")")[2].split()
            if len(fields) < 22:
                continue
            tasks += int(fields[17])
            self._used[(pid, fields[19])] = (int(fields[11]) + int(fields[12])) / _TICKS
            if self._counting and len(pids) <= _SHORT:
                memory += _memory(pid, len(pids))
        seen.tasks, seen.memory = max(seen.tasks, tasks), max(seen.memory, memory)
        seen.cpu = sum(self._used.values())
        if self._counting:
            for pid in pids[:1]:
                self._count_files(pid)
            for pid in pids:
                self._count_descriptors(pid)

    def _count_files(self, pid: int) -> None:
        """Everything named after the mark, wherever the attacker can write, seen through its own root."""
        written, largest = 0, 0
        root, home = f"/proc/{pid}/root", _scene(pid).get("root", "/tmp")
        for folder in {"/tmp", "/dev/shm", "/run", "/home/sandbox", home, os.path.expanduser("~")}:
            with contextlib.suppress(OSError):
                for name in os.listdir(root + folder):
                    if self._mark in name:
                        about = os.lstat(f"{root}{folder}/{name}")
                        written, largest = written + about.st_blocks * 512, max(largest, about.st_size)
                        if stat.S_ISDIR(about.st_mode):
                            self.seen.files = max(self.seen.files, len(os.listdir(f"{root}{folder}/{name}")))
        self.seen.written, self.seen.largest = max(self.seen.written, written), max(self.seen.largest, largest)

    def _count_descriptors(self, pid: int) -> None:
        self.seen.descriptors = max(self.seen.descriptors, len(processes.listed(f"/proc/{pid}/fd")))

    def _look(self, pids: list[int], looker: int) -> None:
        seen, theirs = self.seen, processes.namespaces(looker)
        for pid in pids:
            seen.wrong |= processes.standing(pid)
            seen.wrong |= {what: what for what in processes.holdings(pid, self._mark)}
            if processes.namespaces(pid) not in (theirs, ()):
                seen.wrong["namespaces"] = "it is in a namespace of its own"
        if processes.keys() > self._keys or self._mark in processes.text("/proc/keys"):
            seen.wrong["keys"] = "it has a key in the kernel"
        routes = processes.routes(looker)
        if routes:
            seen.wrong["route"] = f"it has a route to {', '.join(routes)}"
        seen.wrong |= self._devices(looker)
        protected = _protected(looker)
        # A limit may end it under our eyes, and then its files cannot be seen by way of it: that was no look.
        if looker in processes.marked(self._mark):
            seen.protected, seen.looked = protected, True

    def _devices(self, looker: int) -> dict[str, str]:
        root = f"/proc/{looker}/root"
        for folder in ("/tmp", "/dev/shm", "/dev", _scene(looker).get("root", "/tmp")):
            for name in os.listdir(root + folder) if os.path.isdir(root + folder) else ():
                about = os.lstat(f"{root}{folder}/{name}")
                if self._mark in name and not stat.S_ISREG(about.st_mode) and about.st_rdev:
                    return {"device": f"it made the device {folder}/{name}"}
        return {}


def _protected(looker: int) -> str:
    """What is at the protected path, as the looker sees it, by the eyes of the host."""
    path = f"/proc/{looker}/root{_scene(looker).get('root', '')}/protected"
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            return "it is no folder"
        about = os.lstat(f"{path}/inner")
        if not stat.S_ISREG(about.st_mode):
            return "it is no file"
        with open(f"{path}/inner", encoding="utf-8", errors="replace") as f:
            content = f.read(4096)
        attributes = [n for p in (path, f"{path}/inner") for n in os.listxattr(p)]
    except OSError as e:
        return f"it cannot be read: {e.strerror}"
    return f"{content}{sorted(os.listdir(path))} {about.st_mtime_ns} {attributes}"


def _scene(pid: int) -> dict[str, str]:
    """The scene that a process of the attacker's was started with, from its arguments."""
    for argument in processes.text(f"/proc/{pid}/cmdline").split("\0"):
        if argument.startswith("{"):
            found: dict[str, str] = json.loads(argument)
            return found
    return {}


def _started(pid: int) -> int:
    fields = processes.text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[19]) * (1 << 22) + pid if len(fields) > 19 else 1 << 62


def _memory(pid: int, among: int) -> int:
    """Bytes that a process holds: its share of pages, its page tables, and what waits in its sockets and pipes."""
    # A process's share takes long to find out, and holds the process up; of a few, little is shared.
    share = _kilobytes(f"/proc/{pid}/smaps_rollup", "Pss:") if among > _FEW else 0
    pages = share or _kilobytes(f"/proc/{pid}/status", "VmRSS:")
    many = len(processes.listed(f"/proc/{pid}/fd")) > _MANY
    tables = _kilobytes(f"/proc/{pid}/status", "VmPTE:")
    return (pages + tables) * 1024 + (processes.queued(pid) if many else 0)


def _kilobytes(path: str, name: str) -> int:
    return next((int(row.split()[1]) for row in processes.text(path).splitlines() if row.startswith(name)), 0)


def settle(mark: str, seconds: float) -> list[int]:
    """Marked processes that are still there after so long."""
    until = time.monotonic() + seconds
    while (left := processes.marked(mark)) and time.monotonic() < until:
        time.sleep(_NAP)
    return left
