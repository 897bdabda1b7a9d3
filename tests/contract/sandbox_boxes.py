"""Every backend of the sandbox, as root and as an ordinary user, behind one face for the tests."""

from __future__ import annotations

import functools
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import pytest

from referee.adapters.sandbox import sandbox_owner
from referee.adapters.sandbox.backends import BACKENDS as KNOWN
from referee.adapters.sandbox.bare import BareSandbox
from referee.adapters.sandbox.bubblewrap import BubblewrapSandbox
from referee.adapters.sandbox.container import ContainerSandbox
from referee.adapters.sandbox.landlocked import LandlockSandbox
from referee.adapters.sandbox.stage import kernel
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.domain.errors import WorldFault
from referee.domain.patch import FileContent, Patch, patch_of
from referee.ports import Base, Command, Execution, Isolation, Job, Limits, Mount, Sandbox, Warm

PYTHON = next((p for p in ("/usr/bin/python3", "/usr/local/bin/python3") if os.access(p, os.X_OK)), "")
ROOT = "/home/dev/project"
AN_ORDINARY_USER = 12_345
BACKENDS: dict[str, Callable[[], Sandbox]] = {
    "userns": lambda: UsernsSandbox(python=PYTHON),
    "bubblewrap": lambda: BubblewrapSandbox(python=PYTHON),
    "container": lambda: ContainerSandbox(program=_engine(), python=PYTHON),
    "landlock": lambda: LandlockSandbox(python=PYTHON),
    "bare": lambda: BareSandbox(python=PYTHON),
}


class OtherUser:
    """A sandbox that lives in a child process which has become an ordinary user for good."""

    def __init__(self, make: Callable[[], Sandbox], uid: int) -> None:
        self._wire, theirs = multiprocessing.Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._wire.close()
            try:
                _serve(theirs, make, uid)
            finally:
                os._exit(0)
        theirs.close()

    @property
    def isolation(self) -> Isolation:
        return self._ask("isolation", None)

    def run(self, command: Command) -> Execution:
        return self._ask("run", command)

    def warm(self, command: Command) -> OtherUsersWarm:
        return OtherUsersWarm(self._ask, self._ask("warm", command))

    def close(self) -> None:
        self._wire.close()
        os.waitpid(self.pid, 0)

    def _ask(self, what: str, argument: object) -> Any:
        self._wire.send((what, argument))
        ok, answer = self._wire.recv()
        if not ok:
            raise answer
        return answer


class OtherUsersWarm:
    """A warm process that the child holds under a number."""

    def __init__(self, ask: Callable[[str, object], Any], number: int) -> None:
        self._ask, self._number = ask, number

    def run(self, job: Job) -> Execution:
        return self._ask("job", (self._number, job))

    def close(self) -> None:
        self._ask("cool", self._number)


def _serve(wire: Connection, make: Callable[[], Sandbox], uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    sandbox, warm = make(), []
    while True:
        try:
            what, argument = wire.recv()
        except EOFError:
            sandbox.close()
            return
        try:
            wire.send((True, _answer(sandbox, warm, what, argument)))
        except Exception as e:
            wire.send((False, e))


def _answer(sandbox: Sandbox, warm: list[Warm], what: str, argument: Any) -> object:
    if what == "isolation":
        return sandbox.isolation
    if what == "run":
        return sandbox.run(argument)
    if what == "warm":
        warm.append(sandbox.warm(argument))
        return len(warm) - 1
    if what == "job":
        return warm[argument[0]].run(argument[1])
    return warm[argument].close()


@dataclass
class Box:
    """A sandbox to test, and how to prepare things for it."""

    name: str
    sandbox: Any
    folder: str
    owner: tuple[int, int] | None
    made: list[str] = field(default_factory=list)

    def needs(self, *probes: str) -> None:
        """Skip what this backend says that it does not do."""
        backend = self.name.partition("-")[0]
        lacking = [KNOWN[backend].lacks[p] for p in probes if p in KNOWN[backend].lacks]
        if lacking or (backend == "bare" and probes):
            pytest.skip(f"{backend} says: {'; '.join(lacking) or 'isolates nothing'}")

    def base(self, files: Mapping[str, str], protected: tuple[str, ...] = (), mount_at: str = ROOT) -> Base:
        """A base that holds `files`, owned by whom the backend wants."""
        path = self.write_all(f"base{len(self.made)}", files)
        return Base(tree="t", path=path, mount_at=mount_at, protected=protected)

    def write_all(self, name: str, files: Mapping[str, str]) -> str:
        root = os.path.join(self.folder, name)
        os.makedirs(root)
        self.made.append(root)
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        give(root, self.owner)
        return root

    def run(self, *argv: str, **options: Any) -> Execution:
        return self.sandbox.run(Command(argv=argv, **options))

    def sh(self, script: str, **options: Any) -> Execution:
        return self.run("sh", "-c", script, **options)

    def python(self, code: str, **options: Any) -> Execution:
        return self.run(PYTHON, "-I", "-B", "-c", code, **options)


def give(root: str, owner: tuple[int, int] | None) -> None:
    """Make `owner` own a whole tree."""
    if owner is None:
        return
    os.chown(root, *owner)
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            os.chown(os.path.join(folder, name), *owner, follow_symlinks=False)


@contextmanager
def open_box(name: str, private: str) -> Iterator[Box]:
    """The backend and user named `name`, such as `userns-root` or `bubblewrap-user`."""
    backend, _, who = name.partition("-")
    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    if backend == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if backend == "landlock" and kernel.landlock_version() == 0:
        pytest.skip("this kernel has no Landlock, or has it switched off")
    root = os.geteuid() == 0
    if backend == "container" and root == (who == "root"):
        _try_container()
    if who == "root" and not root:
        pytest.skip("needs root")
    if backend == "landlock" and root and who == "root":
        yield from _reachable(name, BACKENDS[backend])
        return
    if who != "user" or not root:
        sandbox: Any = BACKENDS[backend]()
        try:
            yield Box(
                name, sandbox, private, sandbox_owner() if backend in ("userns", "bubblewrap", "container") else None
            )
        finally:
            sandbox.close()
        return
    if not _walkable():
        pytest.skip("an ordinary user cannot read this checkout")
    folder = tempfile.mkdtemp(prefix="referee-user-")
    os.chown(folder, AN_ORDINARY_USER, AN_ORDINARY_USER)
    other = OtherUser(BACKENDS[backend], AN_ORDINARY_USER)
    try:
        if backend == "container":
            _try_for(other)
        yield Box(name, other, folder, (AN_ORDINARY_USER, AN_ORDINARY_USER))
    finally:
        other.close()
        shutil.rmtree(folder)


def _engine() -> str:
    """The engine to test; podman behind a helper where cgroups are in the hybrid mode that some run-times refuse."""
    if shutil.which("podman") and os.path.isdir("/sys/fs/cgroup/unified") and os.geteuid() == 0:
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), "podman-legacy")
    return ""


@functools.cache
def _why_no_container() -> str:
    sandbox = BACKENDS["container"]()
    try:
        sandbox.run(Command(argv=("true",)))
    except WorldFault as e:
        return str(e)
    finally:
        sandbox.close()
    return ""


def _try_container() -> None:
    """Skip, with the engine's own words, where no container can be started."""
    if why := _why_no_container():
        pytest.skip(f"no container can be started here: {why}")


_REFUSED: list[str] = []


def _try_for(other: OtherUser) -> None:
    if not _REFUSED:
        try:
            other.run(Command(argv=("true",)))
        except WorldFault as e:
            _REFUSED.append(str(e))
    if _REFUSED:
        pytest.skip(f"an ordinary user can start no container here: {_REFUSED[0]}")


def _reachable(name: str, make: Callable[[], Sandbox]) -> Iterator[Box]:
    """A box in a folder that the sandbox's user can walk to: without mounts of its own it sees nothing else."""
    owner = sandbox_owner()
    folder = tempfile.mkdtemp(prefix="referee-user-")
    give(folder, owner)
    sandbox = make()
    try:
        yield Box(name, sandbox, folder, owner)
    finally:
        sandbox.close()
        shutil.rmtree(folder)


def _walkable() -> bool:
    """Whether an ordinary user can read the package's own files."""
    path = os.path.abspath(__file__)
    while path != "/":
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & 0o001:
            return False
    return True


def patched(files: Mapping[str, str | None]) -> Patch:
    """A patch that writes these texts; None deletes."""
    return patch_of({p: None if t is None else FileContent(data=t.encode()) for p, t in files.items()})


def shown(source: str, target: str) -> Mount:
    return Mount(source=source, target=target)


def quick(seconds: float = 10.0, **limits: Any) -> Limits:
    return Limits(wall_seconds=seconds, **limits)
