"""No sandbox: a command started as a careless harness would, so that every attack can show what it can do."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import tempfile
import time

from referee.adapters.sandbox.attacks import processes
from referee.ports import Command, Execution, Isolation, Level

_CLONE_NEWNS, _PRIVATE, _BIND, _REMOUNT_READ_ONLY = 0x20000, 0x44000, 0x5000, 0x1021
_MOUNT_SETATTR, _AT_FDCWD, _RECURSIVE = 442, -100, 0x8000
_CAMPAIGNS_OWN = ("/tmp", "/dev/shm")
_KERNELS = ("/proc", "/sys")
_libc = ctypes.CDLL(None, use_errno=True)


class Unprotected:
    """Runs commands in the base itself, with everything inherited. What is mounted is named by its source.

    As root it does so in a mount namespace of the command's own, in which the machine's files cannot be written but
    for temporary folders: an attack that works must still do no damage. With `uid`, the command runs as that user.
    With `protecting`, protected paths are mounted read-only, in a way that root can undo.
    """

    isolation = Isolation(backend="unprotected", level=Level.NONE)

    def __init__(self, uid: int | None = None, protecting: bool = False) -> None:
        self._uid, self._protecting = uid, protecting

    def run(self, command: Command) -> Execution:
        assert command.base is not None
        assert os.geteuid() == 0, "only root can see to it that a control does no damage"
        moved = {m.target: m.source for m in command.mounts} | {command.base.mount_at: command.base.path}
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            started = subprocess.Popen(
                [_moved(argument, moved) for argument in command.argv], cwd=command.base.path,
                env={**os.environ, "HOME": "/tmp", **command.env}, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                close_fds=False, start_new_session=True, preexec_fn=lambda: self._before(command),
            )  # fmt: skip
            try:
                started.wait(timeout=60)
            finally:
                started.kill()
                started.wait()
            # As a harness does that waits for the end of the output.
            until = time.monotonic() + command.limits.wall_seconds + 4
            while _held(out, command.env[processes.VARIABLE]) and time.monotonic() < until:
                time.sleep(0.05)
            out.seek(0)
            err.seek(0)
            return Execution(
                exit_code=started.returncode,
                stdout=out.read(),
                stderr=err.read(),
                duration_ms=round((time.monotonic() - began) * 1000),
                isolation=self.isolation,
            )

    def _before(self, command: Command) -> None:
        _must(_libc.unshare(_CLONE_NEWNS))
        _must(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_PRIVATE), None))
        for path in _CAMPAIGNS_OWN:
            _must(_libc.mount(path.encode(), path.encode(), None, ctypes.c_ulong(_BIND), None))
        _set("/", read_only=True)
        for path in (*_CAMPAIGNS_OWN, *_KERNELS):
            _set(path, read_only=False)
        os.chdir(os.getcwd())  # or we would stand below the new mount of /tmp
        for path in command.base.protected if command.base and self._protecting else ():
            for flags in (_BIND, _REMOUNT_READ_ONLY):
                _must(_libc.mount(path.encode(), path.encode(), None, ctypes.c_ulong(flags), None))
        if self._uid is not None:
            os.setgroups([])
            os.setresgid(self._uid, self._uid, self._uid)
            os.setresuid(self._uid, self._uid, self._uid)


def _held(out: object, mark: str) -> bool:
    """Whether a process of the command that is not its own attacker still has the output open."""
    wanted = os.fstat(out.fileno())  # type: ignore[attr-defined]
    for pid in processes.marked(mark):
        try:
            theirs = os.stat(f"/proc/{pid}/fd/1")
        except OSError:
            continue
        if (theirs.st_dev, theirs.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False


def _set(path: str, read_only: bool) -> None:
    record = struct.pack("QQQQ", int(read_only), int(not read_only), 0, 0)
    call = [ctypes.c_long(n) for n in (_MOUNT_SETATTR, _AT_FDCWD)]
    _must(_libc.syscall(*call, path.encode(), ctypes.c_long(_RECURSIVE), record, ctypes.c_long(len(record))))


def _must(result: int) -> None:
    """A control whose precautions fail is not run."""
    if result != 0:
        raise OSError(ctypes.get_errno(), "the control could not be made harmless")


def _moved(text: str, moved: dict[str, str]) -> str:
    for target in sorted(moved, key=len, reverse=True):
        text = text.replace(target, moved[target])
    # The folder above the attacks is named by its own path, which no mount has as its target.
    return os.path.dirname(moved[f"{text}/inside"]) if f"{text}/inside" in moved else text
