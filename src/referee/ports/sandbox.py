"""Running commands isolated from the host."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from referee.domain.destination import Destination
from referee.domain.patch import Patch
from referee.domain.value import Value


class Level(StrEnum):
    """How much a backend isolates: `full` is files, network, processes and limits; `none` is nothing."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class Isolation(Value):
    """Which backend ran a command and how far it isolates; stamped on every execution and report."""

    backend: str
    level: Level

    @property
    def stamp(self) -> str:
        """Both in a word each, as on a verdict: `userns, full`."""
        return f"{self.backend}, {self.level.value}"


class Limits(Value):
    """Hard limits of one command and all its descendants. Bytes and seconds; None means no such limit."""

    wall_seconds: float = 60.0
    cpu_seconds: float | None = 60.0
    memory_bytes: int = 2 << 30
    address_space_bytes: int | None = None  # never below 1.5 GiB: runtimes reserve what they do not touch
    file_bytes: int = 256 << 20
    disk_bytes: int = 512 << 20
    processes: int = 256
    open_files: int = 1024
    output_bytes: int = 1 << 20  # per stream; the rest is dropped and the command killed at 64 times as much
    channel_bytes: int = 32 << 20
    egress_bytes: int = 1 << 30  # through the proxy, both ways together


class Mount(Value):
    """A host path shown read-only inside, at `target`.

    A `layered` folder looks writable at its top level, where a backend can do that: what is written goes to the
    command's own layer and is gone with it.
    """

    source: str
    target: str
    layered: bool = False


class Base(Value):
    """An immutable copy of a tree on disk, seen inside at the repository's own path.

    `protected` are paths relative to the root (files or whole folders) that exist in the copy and are
    read-only inside; everything else is writable, into an upper layer that dies with the command.
    """

    tree: str
    path: str
    mount_at: str
    protected: tuple[str, ...] = ()


class Command(Value):
    """One command for the sandbox.

    `argv` is never a shell string. `patch` is applied on top of `base` from inside the sandbox. With
    `channel`, the command may read a fresh 32-byte key from descriptor 3 and write frames to descriptor 4;
    the key is in `Execution.key` and appears in no environment, argument or file. Standard input is empty, unless
    an adapter feeds it.
    `cwd` is absolute, as seen inside. `writable` mounts do not exist: nothing of the host is writable.
    `egress` is where it may connect to, through a proxy that its environment names; without any, there is none.
    """

    argv: tuple[str, ...]
    base: Base | None = None
    patch: Patch = Patch()
    cwd: str = "/"
    env: Mapping[str, str] = {}
    mounts: tuple[Mount, ...] = ()
    limits: Limits = Limits()
    channel: bool = False
    egress: tuple[Destination, ...] = ()


class Contact(Value):
    """What came of trying to reach `target` from inside, `times` over: bytes are sums; `refused` is the reason."""

    target: str
    refused: str = ""
    times: int = 1
    sent: int = 0
    received: int = 0
    injected: str = ""  # the name of the header that was added outside

    @property
    def words(self) -> str:
        """What came of it, without the counts."""
        if self.refused:
            verb = "was cut off from" if self.sent or self.received else "was refused"
            return f"{verb} {self.target}: {self.refused}"
        return f"connected to {self.target}" + (f", with {self.injected} added outside" if self.injected else "")


class Execution(Value):
    """How a command ended.

    `exit_code` is None if it was killed; `killed_by` then names the limit (`wall`, `cpu`, `memory`, `disk`,
    `output`, `processes`) or `signal:NAME`. `peak_memory_bytes` is of the whole process tree.
    `left_processes` says that the leader ended while descendants still ran (they were killed). `contacts` are
    all connections that were let out or refused.
    """

    exit_code: int | None
    killed_by: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_total: int = 0
    stderr_total: int = 0
    channel: bytes = b""
    key: bytes = b""
    duration_ms: int = 0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    left_processes: bool = False
    contacts: tuple[Contact, ...] = ()
    isolation: Isolation


class Job(Value):
    """One use of a warm process: the arguments for its entry point, onto a patch."""

    argv: tuple[str, ...]
    patch: Patch = Patch()
    limits: Limits = Limits()


class Warm(Protocol):
    """A process inside the sandbox with its imports done, forked once per job.

    Each job gets its own mount and process namespace and a fresh upper layer: nothing of one job is
    visible to the next. Safe to call from several threads.
    """

    def run(self, job: Job) -> Execution: ...
    def close(self) -> None: ...


class Sandbox(Protocol):
    """Runs commands isolated from the host. Raises `WorldFault` if it cannot start one as promised;
    a command that fails is an `Execution`, never an exception."""

    @property
    def isolation(self) -> Isolation: ...
    def run(self, command: Command) -> Execution: ...
    def warm(self, command: Command) -> Warm:
        """Start `argv` = (interpreter, flags…, path of an entry script) once, with its imports done.

        The script is loaded as a module; it does its imports at module level and defines
        `main(argv: list[str]) -> int`, called per job in the forked child with descriptors 3 and 4 as in
        `Command` (`channel` is implied). `patch` and `limits` of `command` are ignored; it may have no `egress`.
        """
        ...

    def close(self) -> None: ...
