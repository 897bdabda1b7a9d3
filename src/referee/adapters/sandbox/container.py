"""The container backend: podman or docker, for hosts where an engine may do what a user may not."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace

from referee.adapters.sandbox.bubblewrap_arguments import rooms
from referee.adapters.sandbox.cold import ColdJobs
from referee.adapters.sandbox.container_arguments import arguments, image
from referee.adapters.sandbox.container_run import Box, Engine
from referee.adapters.sandbox.egress import Door, Outside, through
from referee.adapters.sandbox.requests import HERE, check_protected, contents, run_request, sandbox_owner
from referee.adapters.sandbox.shown import made_up_etc, prefixes
from referee.adapters.sandbox.stage import boxed
from referee.adapters.sandbox.stage.request import Bind, Lower, Request, encode
from referee.adapters.sandbox.stage.view import BASE, STAGE
from referee.adapters.sandbox.streams import feeder
from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Isolation, Level

ENGINES = ("podman", "docker")
_START = "import sys; sys.path.insert(0, '/run/referee'); from stage import boxed; boxed.main()"
_ENGINE_SECONDS = 60.0


class ContainerSandbox:
    """One container per command, from an empty image; the system is this host's, shown read-only.

    The base is copied into a bounded tmpfs: about a second for 10 000 files. `program` is the engine, else the first
    of podman and docker that is installed.
    """

    def __init__(self, program: str = "", python: str = sys.executable, outside: Outside | None = None) -> None:
        self._program, self._python, self._outside = program, python, outside or Outside()
        self._lock = threading.Lock()
        self._etc: tempfile.TemporaryDirectory[str] | None = None
        self._image = ""

    @property
    def isolation(self) -> Isolation:
        """Files, network, processes and limits, all of them."""
        return Isolation(backend="container", level=Level.FULL)

    def run(self, command: Command) -> Execution:
        """See `Sandbox.run`."""
        return through(self._outside, command, lambda door: self._run(command, door))

    def _run(self, command: Command, door: Door | None) -> Execution:
        if feeder() is not None:
            raise WorldFault("a container is given no standard input here; use another sandbox (`referee doctor`)")
        program = self._engine()
        etc = self._started(program)
        inner = _inner(command)
        owner = sandbox_owner() or (os.getuid(), os.getgid())
        with Box(encode(inner, contents(command.patch)), command, owner) as box:
            if door is not None:
                door.wait_in(box.folder, owner)
            binds = self._binds(command, etc, box.folder)
            name = f"referee-{secrets.token_hex(8)}"
            podman = os.path.basename(program).startswith("podman")
            python = os.path.realpath(self._python)
            argv = [*arguments(inner, binds, name, owner, podman), "--entrypoint", python, self._image]
            return box.run(Engine(program, name), [*argv, "-I", "-S", "-B", "-c", _START], self.isolation)

    def warm(self, command: Command) -> ColdJobs:
        """See `Sandbox.warm`: each job is a cold run."""
        return ColdJobs(self, command)

    def close(self) -> None:
        """Forget what was made up; the empty image stays with the engine for the next time."""
        with self._lock:
            if self._etc is not None:
                self._etc.cleanup()
                self._etc = None

    def _engine(self) -> str:
        found = next((p for p in map(shutil.which, [self._program] if self._program else ENGINES) if p), None)
        if found is None:
            raise WorldFault(f"there is no program {self._program or ' or '.join(ENGINES)!r}; install podman")
        return found

    def _started(self, program: str) -> str:
        """The made-up /etc; with it, the engine has the image."""
        with self._lock:
            if not self._image:
                name, archive = image()
                if _call(program, "image", "inspect", name).returncode != 0:
                    said = _call(program, "import", "-", name, feed=archive)
                    if said.returncode != 0:
                        raise WorldFault(f"{program} cannot be used: {_last_line(said.stderr)}")
                self._image = name
            if self._etc is None:
                self._etc = made_up_etc()
            return f"{self._etc.name}/etc"

    def _binds(self, command: Command, etc: str, box: str) -> list[Bind]:
        """What is shown of this host, beside its system."""
        shown = [Bind(etc, "/etc"), Bind(os.path.join(HERE, "stage"), STAGE), Bind(box, boxed.HERE)]
        shown += [Bind(path, path) for path in prefixes(os.path.realpath(self._python))]
        shown += [Bind(command.base.path, BASE)] if command.base else []
        for mount in command.mounts:
            if not os.path.exists(mount.source):
                raise WorldFault(f"the sandbox cannot show {mount.source}: there is no such file or folder")
        inner = [Bind(m.source, m.target) for m in command.mounts if not m.target.startswith("/usr/")]
        return list({bind.target: bind for bind in (*shown, *inner)}.values())  # engines refuse a place twice


def _inner(command: Command) -> Request:
    """What is to run inside, with the base where the engine shows it."""
    request = replace(run_request(command), handed=False)
    if request.lower is not None and command.base is not None:
        check_protected(command.base)
        request = replace(request, lower=Lower(BASE, request.lower.mount_at, request.lower.protected))
    return replace(request, writable=tuple(rooms(request)))


def _call(program: str, *argv: str, feed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [program, *argv], input=feed, capture_output=True, timeout=_ENGINE_SECONDS, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise WorldFault(f"{program} cannot be used: {e}") from e


def _last_line(said: bytes) -> str:
    return (said.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"])[-1]
