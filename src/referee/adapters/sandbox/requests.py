"""From the ports' words to the fork server's."""

from __future__ import annotations

import os

from referee.adapters.sandbox.environment import environment
from referee.adapters.sandbox.stage import places
from referee.adapters.sandbox.stage import request as wire
from referee.adapters.sandbox.stage.view import BASE, STAGE
from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import Patch
from referee.ports import Base, Command, Job, Limits, Mount

HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS_STAND_IN = (65532, 65532)  # who commands run as when the harness runs as root
_LEAST_ADDRESS_SPACE = 3 << 29
_PLENTY = 1 << 20  # processes; the system has fewer
# A warm process runs trusted code for as long as it is wanted; its jobs have limits of their own.
_UNBOUNDED = wire.Bounds(
    wall=None,
    cpu=None,
    memory=None,
    address_space=None,
    file=64 << 20,
    disk=64 << 20,
    processes=_PLENTY,
    open_files=1024,
)
_LOAD = (
    "import sys; sys.path.insert(0, '/run/referee'); from stage import warm; del sys.path[0]; warm.main(sys.argv[1])"
)


def sandbox_owner() -> tuple[int, int] | None:
    """The user and group that must own a base's files for commands to change them; None for our own."""
    return ROOTS_STAND_IN if os.geteuid() == 0 else None


def contents(patch: Patch) -> list[bytes]:
    """The new contents of a patch, in its order."""
    return [c.after.data for c in patch.changes if c.after is not None]


def check_protected(base: Base) -> None:
    """Raises `WorldFault` unless every part of every protected path is real: whoever takes names follows links."""
    root = os.open(base.path, os.O_PATH | os.O_CLOEXEC)
    try:
        for path in base.protected:
            os.close(places.find(root, path))
    except OSError as e:
        raise WorldFault(f"the sandbox could not be set up: {e}") from e
    finally:
        os.close(root)


def run_request(command: Command) -> wire.Request:
    """Start a program. Raises `UsageError` for a command that makes no sense."""
    if command.patch.changes and command.base is None:
        raise UsageError("a patch needs a base to be applied to")
    return wire.Request(
        kind="exec",
        argv=_argv(command),
        env=environment(command.env, proxied=bool(command.egress)),
        cwd=command.cwd,
        bounds=_bounds(command.limits),
        binds=_binds(command.mounts),
        lower=_lower(command.base, command.base.path) if command.base else None,
        changes=_changes(command.patch),
        channel=command.channel,
        handed=sandbox_owner() is not None,
        door=bool(command.egress),
    )


def serve_request(command: Command) -> wire.Request:
    """Start a warm process: the same interpreter and flags, with our loader between them and the script."""
    *interpreter, script = _argv(command)
    if not interpreter:
        raise UsageError("a warm process needs an interpreter and the path of an entry script")
    if command.egress:
        raise UsageError("a warm process has no way out; run the command by itself")
    return wire.Request(
        kind="serve",
        argv=(*interpreter, "-c", _LOAD, script),
        env=environment(command.env),
        cwd=command.cwd,
        bounds=_UNBOUNDED,
        binds=_binds((*command.mounts, Mount(source=os.path.join(HERE, "stage"), target=STAGE))),
        lower=_lower(command.base, command.base.path) if command.base else None,
        handed=sandbox_owner() is not None,
    )


def call_request(command: Command, job: Job) -> wire.Request:
    """Call the script of the warm process that `serve_request(command)` started; paths are as seen inside it."""
    if job.patch.changes and command.base is None:
        raise UsageError("a patch needs a base to be applied to")
    return wire.Request(
        kind="call",
        argv=job.argv,
        env=environment(command.env),
        cwd=command.cwd,
        bounds=_bounds(job.limits),
        binds=_binds(tuple(m.model_copy(update={"source": m.target}) for m in command.mounts)),
        lower=_lower(command.base, BASE) if command.base else None,
        changes=_changes(job.patch),
        channel=True,
    )


def _argv(command: Command) -> tuple[str, ...]:
    if not command.argv:
        raise UsageError("no command given; say what to run, as in `referee sandbox -- ls`")
    return command.argv


def _binds(mounts: tuple[Mount, ...]) -> tuple[wire.Bind, ...]:
    """The mounts that show something new, outer ones first."""
    new = [m for m in mounts if not (m.source == m.target and m.target.startswith("/usr/"))]
    return tuple(wire.Bind(m.source, m.target, m.layered) for m in sorted(new, key=lambda m: m.target.count("/")))


def _lower(base: Base, path: str) -> wire.Lower:
    return wire.Lower(path, base.mount_at, base.protected)


def _changes(patch: Patch) -> tuple[wire.Change, ...]:
    return tuple(
        wire.Change(c.path, None) if c.after is None else wire.Change(c.path, len(c.after.data), c.after.executable)
        for c in patch.changes
    )


def _bounds(limits: Limits) -> wire.Bounds:
    space = limits.address_space_bytes
    if space is not None and space < _LEAST_ADDRESS_SPACE:
        raise UsageError("address_space_bytes is below 1.5 GiB, which runtimes reserve untouched; raise or drop it")
    return wire.Bounds(
        wall=limits.wall_seconds,
        cpu=limits.cpu_seconds,
        memory=limits.memory_bytes,
        address_space=space,
        file=limits.file_bytes,
        disk=limits.disk_bytes,
        processes=limits.processes,
        open_files=limits.open_files,
    )
