"""Finding out what this machine can isolate, by trying it: what must work and what must not."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from referee.adapters.sandbox.requests import HERE, sandbox_owner
from referee.adapters.sandbox.streams import heard
from referee.domain.errors import WorldFault
from referee.domain.patch import FileContent, patch_of
from referee.ports import Base, Command, Limits, Mount, Sandbox

OK = "ok"
_ROOT, _SCRIPT = "/home/probe/tree", "/home/probe/inside.py"
_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=20.0, disk_bytes=64 << 20)
_SHORT = Limits(wall_seconds=0.2, disk_bytes=16 << 20)
_ROOM = 16 << 20
_MEMORY, _CPU_SECONDS = 128 << 20, 0.3
_HOG = "x = []\nwhile True: x.append(b'x' * (8 << 20))"
_FLOOD = "dd if=/dev/zero of=$TMPDIR/flood bs=1M count=64 2>/dev/null; wc -c < $TMPDIR/flood"


def self_check(sandbox: Sandbox) -> dict[str, str]:
    """Run every probe in `sandbox`: its name to "ok", or to what is wrong. Never raises for what the machine lacks."""
    try:
        with heard(None), _host() as (command, secret):
            found = _inside(sandbox, command, secret)
            return found | _limits(sandbox)
    except WorldFault as e:
        return {"start": str(e)}


def _inside(sandbox: Sandbox, command: Command, secret: str) -> dict[str, str]:
    """What the script saw from inside."""
    execution = sandbox.run(command)
    if execution.exit_code != 0:
        said = execution.stderr.decode("utf-8", "replace").strip()[-300:]
        return {"start": f"a probe ended with {execution.exit_code or execution.killed_by}: {said}"}
    found: dict[str, str] = {"start": OK, **json.loads(execution.stdout)}
    leaked = secret.encode() in execution.stdout
    found["secrecy"] = "the host's environment shows" if leaked else OK
    return found


def _limits(sandbox: Sandbox) -> dict[str, str]:
    """Whether limits end a command, and all that it started."""
    commands = (
        Command(argv=("sh", "-c", "sleep 60 & sleep 60"), limits=_SHORT),
        Command(argv=("sh", "-c", _FLOOD), limits=_LIMITS.model_copy(update={"disk_bytes": _ROOM})),
        _python(_HOG, {"memory_bytes": _MEMORY}),
        _python("while True: pass", {"cpu_seconds": _CPU_SECONDS}),
    )
    with ThreadPoolExecutor(len(commands)) as lanes:  # mostly they wait for a limit to be reached
        slow, full, hog, busy = lanes.map(sandbox.run, commands)
    bounded = full.killed_by == "disk" or 0 < int(full.stdout or 0) <= _ROOM
    return {
        "wall": OK if slow.killed_by == "wall" else "a command outlives its time limit",
        "disk": OK if bounded else "a command may write more than its limit",
        "memory": OK if hog.killed_by == "memory" else "a command may hold more memory than its limit",
        "cpu": OK if busy.killed_by == "cpu" else "a command may compute longer than its limit",
    }


@contextlib.contextmanager
def _host() -> Iterator[tuple[Command, str]]:
    """Things on the host that a sandbox must not reach, and the command that tries to."""
    secret = os.urandom(16).hex()
    with tempfile.TemporaryDirectory(prefix="referee-probe-") as folder, contextlib.ExitStack() as stack:
        os.chmod(folder, 0o755)  # noqa: S103 - that it is readable is what makes not seeing it a proof
        for name in ("tree/protected/inner", "tree/plain", "marker"):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
                f.write(secret)
        _give_away(f"{folder}/tree")
        host: dict[str, Any] = {
            "marker": f"{folder}/marker",
            "socket": f"{folder}/socket",
            "abstract": f"referee-{secret}",
            "port": stack.enter_context(_listener(socket.AF_INET, ("127.0.0.1", 0))).getsockname()[1],
            "protected": f"{_ROOT}/protected",
            "root": _ROOT,
            "pid": os.getpid(),
            "environment": sorted(set(os.environ) - _named()),
        }
        stack.enter_context(_listener(socket.AF_UNIX, host["socket"]))
        stack.enter_context(_listener(socket.AF_UNIX, "\0" + host["abstract"]))
        yield _command(folder, host), secret


def _command(folder: str, host: dict[str, Any]) -> Command:
    command = _python("", {})
    return command.model_copy(
        update={
            "argv": (*command.argv[:3], _SCRIPT, json.dumps(host)),
            "base": Base(tree="probe", path=f"{folder}/tree", mount_at=_ROOT, protected=("protected",)),
            "patch": patch_of({"patched": FileContent(data=b"patched")}),
            "cwd": _ROOT,
            "mounts": (Mount(source=os.path.join(HERE, "inside.py"), target=_SCRIPT), *command.mounts),
        }
    )


def _python(code: str, limits: dict[str, float]) -> Command:
    """A command that runs `code` with our own interpreter, wherever it is installed."""
    python = os.path.realpath(sys.executable)
    prefixes = {os.path.dirname(os.path.dirname(python)), sys.base_prefix}
    return Command(
        argv=(python, "-I", "-B", "-c", code),
        mounts=tuple(Mount(source=path, target=path) for path in sorted(prefixes)),
        limits=_LIMITS.model_copy(update=limits),
    )


def _named() -> set[str]:
    """Variables that a sandbox sets itself, whatever the host has."""
    from referee.adapters.sandbox.environment import environment

    return {*environment({}), "LC_CTYPE", "PWD", "SHLVL", "_"}


def _listener(family: socket.AddressFamily, address: object) -> socket.socket:
    listener = socket.socket(family)
    listener.bind(address)  # type: ignore[arg-type]
    listener.listen()
    return listener


def _give_away(tree: str) -> None:
    """Let the user that commands run as own the tree."""
    owner = sandbox_owner()
    if owner is None:
        return
    for folder, _, names in os.walk(tree):
        os.chown(folder, *owner)
        for name in names:
            os.chown(os.path.join(folder, name), *owner)
