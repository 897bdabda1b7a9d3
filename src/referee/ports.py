"""What the kernel needs from outside: the repository, a sandbox, models, a store and a clock.

Adapters implement these protocols and know nothing above them. Each has a fake in `referee.testing` and a
contract suite in `tests/contract` that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, Protocol

from referee.domain.destination import Destination
from referee.domain.patch import Patch
from referee.domain.value import Name, Value

# --- the sandbox -------------------------------------------------------------------------------------------


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
    the key is in `Execution.key` and appears in no environment, argument or file. Standard input is empty.
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


# --- interpreters and their tools --------------------------------------------------------------------------


class Interpreter(Value):
    """A language's interpreter and what is installed for it, found without running anything.

    `executable` and `prefix` are paths as seen inside the sandbox, `mounts` what makes them visible there.
    `distributions` are installed packages by normalised name with their versions, `plugins` the names of their
    pytest plugins, `scripts` the programs beside the executable. `note` says in words what is missing.
    """

    executable: str
    prefix: str
    version: str
    mounts: tuple[Mount, ...] = ()
    distributions: Mapping[str, str] = {}
    plugins: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    note: str = ""


class Toolchain(Value):
    """What another language's programs need to work without a network, found without running anything.

    `mounts` show it, `path` are folders for PATH, `env` are variables; `note` says in words what is missing.
    """

    name: str
    mounts: tuple[Mount, ...] = ()
    path: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    note: str = ""


# --- the repository ----------------------------------------------------------------------------------------


_NAMED = 8  # files left out that a note names one by one


class Snapshot(Value):
    """The repository as it was when the run began. `tree` names its content; nothing else is needed to read it.

    `omitted` says which files are not in it and why (untracked secrets, huge files, sockets), one sentence each.
    """

    tree: str
    head: str = ""
    index_digest: str = ""
    root: str = ""
    identity: str = ""  # device and inode of the root: a replaced folder is another repository (case A43)
    omitted: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """In one sentence, what commands will not see and why; empty if they see everything."""
        more = len(self.omitted) - _NAMED
        tail = f"; and {more} more" if more > 0 else ""
        return f"commands do not see {'; '.join(self.omitted[:_NAMED])}{tail}" if self.omitted else ""


class Commit(Value):
    """A commit to make of a landing, onto `parent`: on the current branch, or alone on the new branch `branch`."""

    parent: str
    message: str
    branch: str = ""


class PullRequest(Value):
    """A pull request to open from `branch`, which is made already."""

    branch: str
    title: str
    body: str = ""


class Published(Value):
    """What became of a pull request: its `url`, or in words what happened and the commands for a person to type."""

    url: str = ""
    said: str = ""
    commands: tuple[str, ...] = ()


class Merged(Value):
    """A tree with the changes of two sides, or the paths that both changed; then there is no tree."""

    tree: str = ""
    conflicts: tuple[str, ...] = ()


class Landing(Value):
    """What a landing did. `conflicts` are paths that changed since they were read: then nothing was written.

    `HEAD` or a branch's full name among the conflicts says that it moved, or is there already.
    """

    how: str
    revision: str | None = None
    written: tuple[Name, ...] = ()
    conflicts: tuple[Name, ...] = ()


class Clash(Value):
    """Both sides of a file that a rollback left alone, as unified diffs or in words where there is no text.

    `since` is what was changed after the run, `undo` what putting it back would have changed;
    `merges` says that both can be had.
    """

    path: Name
    since: str
    undo: str
    merges: bool = False


class Restoration(Value):
    """What a rollback did, path by path. `kept` were changed by somebody else since and stay as they are.

    `merged` were changed since in other lines, which stay. `clashes` shows both sides of each kept one; `patch` is a
    file that `git apply` takes, with the way back. `said` is what it did besides files.
    """

    restored: tuple[Name, ...] = ()
    unchanged: tuple[Name, ...] = ()
    kept: tuple[Name, ...] = ()
    failed: Mapping[Name, str] = {}
    merged: tuple[Name, ...] = ()
    clashes: tuple[Clash, ...] = ()
    patch: str = ""
    said: tuple[str, ...] = ()


class Workspace(Protocol):
    """The user's repository: snapshotted and read at will, written only by `land`, `commit` and `rollback`.

    Trees are content-addressed and kept in a private store; the user's `.git`, index, HEAD, branches,
    stash and reflog are written only to commit, and never without being asked to.
    """

    @property
    def root(self) -> str: ...
    def snapshot(self, run_id: str, *, settled: bool = True) -> Snapshot:
        """Record the tree as it is: tracked, untracked, staged; modes, symlinks. Raises `UsageError` if it cannot.

        Unless `settled` is False, it refuses while git itself is at work there (a merge, a held index): for those who
        land something afterwards. Who only looks, as a hook of a commit does, need not wait for that very commit.
        """
        ...

    def base(self, tree: str, protected: Callable[[str], bool]) -> Base:
        """An immutable copy of `tree` on disk to mount, with the protected paths found in it."""
        ...

    def paths(self, tree: str) -> tuple[str, ...]:
        """All file paths in `tree`, sorted, as text (names that are not UTF-8 use surrogate escapes)."""
        ...

    def read(self, tree: str, path: str) -> bytes | None:
        """The bytes of a regular file in `tree`; None if there is none (or it is not a regular file)."""
        ...

    def executable(self, tree: str, path: str) -> bool: ...
    def apply(self, tree: str, patch: Patch) -> str:
        """The tree that `patch` makes of `tree`. All or nothing; touches no file of the user's."""
        ...

    def diff(self, before: str, after: str) -> bytes:
        """A patch between two trees that `git apply` takes, computed from bytes."""
        ...

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """The paths in which two trees (or commits) differ, sorted."""
        ...

    def recent(self, tree: str, commits: int) -> Mapping[str, tuple[int, ...]]:
        """The lines of Python files in `tree` that are not as they were `commits` commits before HEAD, by path.

        Nothing if there are fewer commits; a file of which most was changed is left out.
        """
        ...

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Make the user's files go from `before` to `after`, all or nothing even across a power loss.

        Compare-and-swap per path against `before`; on any conflict nothing changes and `conflicts` says where.
        """
        ...

    def check_place(self, how: str) -> tuple[str, ...]:
        """Whether a result can go to `how` (as `--land` has it), before any work is done; what to know, in words.

        Raises `UsageError` with what to type instead.
        """
        ...

    def commit(self, run_id: str, before: str, after: str, commit: Commit) -> Landing:
        """Commit what changes from `before` to `after`, without anything else of the user's that is uncommitted.

        On the current branch the files are landed with it, all or nothing. Raises `UsageError` in words where the
        change cannot be told apart from theirs.
        """
        ...

    def publish(self, request: PullRequest) -> Published:
        """Push the branch and open the pull request, outside the sandbox with the person's own credentials.

        What fails there is a result, never an exception: the branch is made and stays.
        """
        ...

    def by_hand(self, request: PullRequest) -> tuple[str, ...]:
        """The commands with which a person does the same. Reaches nothing."""
        ...

    def merge(self, base: str, ours: str, theirs: str) -> Merged:
        """The tree `ours` with what changes from `base` to `theirs`. Touches no file of the user's."""
        ...

    def landed(self, run_id: str) -> Landing | None:
        """The landing of this run if an earlier try took effect (after finishing what a crash interrupted)."""
        ...

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Undo what this run landed, only where the files still are as it left them.

        With `merge`, also where somebody changed other lines of the same file: theirs stay.
        """
        ...

    def recover(self) -> tuple[str, ...]:
        """Finish or undo landings that a crash interrupted; says in words what was done."""
        ...

    def close(self) -> None: ...


# --- models ------------------------------------------------------------------------------------------------


class Message(Value):
    """One message to a model after its static prefix."""

    role: Literal["user", "assistant"]
    content: str


class ModelRequest(Value):
    """`system` is the static prefix, byte-identical on every call of a role; `reply_schema` a JSON Schema.

    `ordinal` counts an author's requests from 1, so that a script or recording finds its place again when a run
    is resumed; 0 is uncounted.
    """

    role: Literal["generator", "fixer", "evaluator", "agent"]
    system: str
    messages: tuple[Message, ...]
    reply_schema: Mapping[str, Any] | None = None
    reply_name: str = "reply"
    max_tokens: int = 8_192
    timeout_seconds: float = 120.0
    ordinal: int = 0


class Usage(Value):
    """Tokens in disjoint buckets; `reasoning` is part of `output`."""

    fresh_input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All tokens, each counted once."""
        return self.fresh_input + self.cache_read + self.cache_write + self.output


class ModelReply(Value):
    """A model's answer. `finish` is normalised; `cost_usd` overrides the price list (scripted models)."""

    content: str
    usage: Usage = Usage()
    finish: Literal["stop", "length", "refusal", "other"] = "stop"
    model: str = ""
    cost_usd: Decimal | None = None
    attempts: int = 1


class Price(Value):
    """US dollars per million tokens; `source` names the list and its version."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    source: str

    def of(self, usage: Usage) -> Decimal:
        """US dollars for `usage`: each bucket at its own price, so each token once (case C3)."""
        dear = self.input * usage.fresh_input + self.output * usage.output
        cached = self.cache_read * usage.cache_read + self.cache_write * usage.cache_write
        return (dear + cached) / 1_000_000


class Model(Protocol):
    """One model at one provider. `call` raises `WorldFault` for the provider's faults, after retries
    within `timeout_seconds`, and `UsageError` for what the user set up wrongly (a key, a name, a script);
    what the model says, however odd, is a reply. Safe to call from several threads."""

    @property
    def name(self) -> str: ...
    def price(self) -> Price | None:
        """The price, or None if it is unknown. Unknown is never zero (A2)."""
        ...

    def call(self, request: ModelRequest) -> ModelReply: ...


# --- the journal's store -----------------------------------------------------------------------------------


class Kind(StrEnum):
    """What a journal entry records."""

    OPENED = "opened"
    REQUESTED = "requested"
    ANSWERED = "answered"
    ENDED = "ended"
    NOTED = "noted"  # loud: something a person should know


class Entry(Value):
    """One line of a journal; `prev` and `digest` chain the entries so that an edit shows.

    `payload` is canonical JSON. Entries are unique by (run, key, kind).
    """

    n: int
    at: str
    key: str
    kind: Kind
    action: str = ""
    payload: str = "{}"
    prev: str = ""
    digest: str = ""


class RunRecord(Value):
    """A run as the store keeps it: `spec` is what is needed to resume it.

    `running` is a run that a living process may be working on, `stopped` one that waits to be resumed. `head` is the
    digest of its last entry.
    """

    run_id: str
    status: Literal["running", "stopped", "done", "waiting"]
    spec: str
    created: str
    fence: int
    outcome: str = ""
    head: str = ""


class Lease(Value):
    """The right to write to a run; a newer `fence` ends it.

    `seen` is the last sign of life of a holder that did not give the run back, in seconds since the epoch; else 0.
    """

    run_id: str
    fence: int
    seen: float = 0.0


class Store(Protocol):
    """Durable, fenced, append-only. Every method is durable when it returns (synchronous=FULL), but for `append`."""

    def create(self, run_id: str, spec: str, at: str) -> None: ...
    def claim(self, run_id: str, owner: str, now: float, ttl: float, *, begin: bool = True) -> Lease:
        """Take the run. Raises `UsageError` naming the owner if another process holds a live lease.

        Without `begin` the run stays ended, or stopped, as it is: for what is done about it, not for it.
        """
        ...

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Raises `WorldFault` if the lease was taken over."""
        ...

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        """Add an entry. Raises `WorldFault` if the lease was taken over.

        It outlives this process in any case. One that is not `durable` may be lost with the power, but then all that
        was appended after it is lost too: the next durable entry makes everything before it durable.
        """
        ...

    def finish(self, lease: Lease, status: Literal["done", "waiting"], outcome: str) -> None: ...
    def release(self, lease: Lease) -> None:
        """Give the run back without ending it, so that it can be resumed at once."""
        ...

    def entries(self, run_id: str) -> tuple[Entry, ...]: ...
    def run(self, run_id: str) -> RunRecord | None: ...
    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        ...

    def put(self, data: bytes) -> str:
        """Store a blob; its SHA-256 in hex."""
        ...

    def get(self, digest: str) -> bytes:
        """A blob, verified against its digest. Raises `WorldFault` if it is missing or damaged."""
        ...

    def close(self) -> None: ...


class Shelf(Protocol):
    """Facts about trees, kept from run to run for a day. Losing one costs time, never truth."""

    def get(self, key: str) -> bytes | None:
        """The fact as it was put, or None if it is missing, old or damaged."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Keep it, in place of an earlier one. Raises `WorldFault` if the disk refuses."""
        ...


# --- time, chance and the whole ----------------------------------------------------------------------------


class Clock(Protocol):
    """Time. `monotonic` for durations, `now` in seconds since the epoch for records."""

    def monotonic(self) -> float: ...
    def now(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class Equipment(Protocol):
    """Everything of the world that a run is given."""

    @property
    def workspace(self) -> Workspace: ...
    @property
    def sandbox(self) -> Sandbox: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def shelf(self) -> Shelf: ...
    def model(self, name: str) -> Model: ...
    def warm(self, command: Command) -> Warm:
        """The warm process for `command`, started on first use and kept for the run."""
        ...


class World(Equipment, Protocol):
    """What an action may touch while it is performed: the equipment, for as long as the budget lasts."""

    def seconds_left(self) -> float:
        """Wall-clock seconds until the run must stop, never negative."""
        ...


Progress = Callable[[str, Mapping[str, Any]], None]
"""Told what happens as it happens: an event's name and its facts. Must not raise."""
