"""What the host puts in the way of an attack: files, secrets, listeners, a process. All of it is thrown away."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
from typing import Any

from referee.adapters.sandbox.attacks import processes
from referee.adapters.sandbox.attacks.inside.registry import Attack
from referee.adapters.sandbox.attacks.listeners import Listeners
from referee.adapters.sandbox.attacks.trees import picture
from referee.adapters.sandbox.requests import sandbox_owner

ROOT, TOOLS, INNER = "/home/attack/tree", "/home/attack/tools", "ORIGINAL\n"
VARIABLE = "REFEREE_ATTACK_SECRET"  # set for a whole campaign, because all scenes share this process
_CAPABLE = struct.pack("<IIIII", 0x02000001, 1 << 13 | 1 << 21, 0, 0, 0)  # raw sockets, and administration
_OPEN_TO_ALL = ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev", "/etc", "~", "~/.config")
_STUBBORN = 10.0  # seconds that killing may take
_libc = ctypes.CDLL(None, use_errno=True)


class Scene:
    """The host's side of one attack."""

    def __init__(self, attack: Attack) -> None:
        self.mark = f"attack-{secrets.token_hex(8)}"
        self.secrets: dict[str, str] = {}
        self.folder = tempfile.mkdtemp(prefix="referee-attack-")
        os.chmod(self.folder, 0o755)
        self._lay_out(attack)
        self.listeners = Listeners()
        self.descriptor = os.open(self._write("descriptor", self._secret("an inherited descriptor")), os.O_RDONLY)
        os.set_inheritable(self.descriptor, True)
        self.secrets["the environment of the harness"] = os.environ.get(VARIABLE, "")
        self.terminal, self._slave = os.openpty()
        self.words = {**self._listen(), **self._process(), **self._shared()}
        self.pictures = {name: picture(f"{self.folder}/{name}") for name in ("tree", "tools", "outside")}
        self._passwords()

    def close(self) -> tuple[str, ...]:
        """Remove everything; the paths that could not be removed."""
        self.listeners.close()
        self._victim.kill()
        self._victim.wait()
        if self._segment >= 0:
            _libc.shmctl(self._segment, 0, None)
        for fd in (self.descriptor, self.terminal, self._slave):
            os.close(fd)
        paths = (self.folder, *self.litter(), f"/dev/shm/{self.words['shared']}")
        for path in paths:
            _remove(path)
        return tuple(path for path in paths if os.path.lexists(os.path.expanduser(path)))

    def _lay_out(self, attack: Attack) -> None:
        out = f"{self.folder}/outside"
        self._write("outside/secret", self._secret("a file of the host"))
        self._write("outside/canary", f"#!/bin/sh\n: > {out}/canary-ran\ncat 2>/dev/null\n")
        for name in ("tree", "tools"):
            self._write(f"{name}/module.py", "x = 1\n")
            self._write(f"{name}/repository/file", "x\n")
            self._write(f"{name}/repository/.git/config", "[core]\nrepositoryformatversion = 0\n")
            self._write(f"{name}/repository/.git/HEAD", "ref: refs/heads/main\n")
            for part in ("hooks", "objects", "refs/heads"):
                os.makedirs(f"{self.folder}/{name}/repository/.git/{part}")
        os.symlink(out, f"{self.folder}/tree/way-out")
        self._protect(attack.prepare)
        for folder, _, names in os.walk(out):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chmod(path, 0o777)
        self._give_away()
        if attack.prepare in ("setuid", "capable"):
            self._privileged(attack.prepare)

    def _protect(self, prepare: str) -> None:
        tree = f"{self.folder}/tree"
        if prepare == "linked":
            os.symlink(f"{self.folder}/outside", f"{tree}/protected")
        elif prepare == "linked above":
            self._write("outside/protected/inner", INNER)
            os.symlink(f"{self.folder}/outside", f"{tree}/above")
        elif prepare == "pipe":
            os.mkfifo(f"{tree}/protected")
        elif prepare != "absent":
            self._write("tree/protected/inner", INNER)

    def _privileged(self, kind: str) -> None:
        """A program that gives who runs it more than they have. Only root can make one."""
        path = f"{self.folder}/tools/{'setuid' if kind == 'setuid' else 'capable'}-sleep"
        shutil.copy("/bin/sleep", path)
        os.chown(path, 0, 0)
        if kind == "setuid":
            os.chmod(path, 0o4755)
        else:
            os.setxattr(path, "security.capability", _CAPABLE)

    def _give_away(self) -> None:
        """The sandbox's user owns the tree and the tools: modes alone would stop too much."""
        owner = sandbox_owner()
        for name in ("tree", "tools"):
            for folder, _, names in os.walk(f"{self.folder}/{name}"):
                for path in (folder, *(os.path.join(folder, n) for n in names)):
                    if owner is not None:
                        os.chown(path, *owner, follow_symlinks=False)

    def _listen(self) -> dict[str, Any]:
        on, out = self.listeners, f"{self.folder}/outside"
        four = on.stream(socket.AF_INET, ("127.0.0.1", 0), *self._named("a listener on 127.0.0.1"))
        six = on.stream(socket.AF_INET6, ("::1", 0), *self._named("a listener on ::1"))
        udp = on.datagram(socket.AF_INET, ("127.0.0.1", 0), "a datagram socket on 127.0.0.1")
        on.stream(socket.AF_UNIX, f"{out}/named", *self._named("a named socket"))
        on.stream(socket.AF_UNIX, f"{self.folder}/tools/socket", *self._named("a socket in a folder that is shown"))
        on.stream(socket.AF_UNIX, f"\0{self.mark}", *self._named("an abstract socket"))
        on.datagram(socket.AF_UNIX, f"\0{self.mark}-datagram", "an abstract datagram socket")
        on.start(self.descriptor)
        ports = {"port4": four[1], "port6": six[1] if six else 9, "udp": udp[1]}
        return {**ports, "named": f"{out}/named", "abstract": self.mark, "hostname": socket.gethostname()}

    def _process(self) -> dict[str, Any]:
        """A process of the host, of the same user as commands inside, with a secret in its environment."""
        owner = sandbox_owner() or (None, None)
        secret, shown = self._secret("a process of the host"), self._secret("arguments of a process of the host")
        opened = os.open(self._write("held", secret), os.O_RDONLY)
        self._victim = subprocess.Popen(
            [shown, "1000"], executable="/bin/sleep", env={"SECRET": secret}, cwd=f"{self.folder}/outside",
            pass_fds=(opened,), user=owner[0], group=owner[1], start_new_session=True,
        )  # fmt: skip
        os.close(opened)
        self.untouched = self.victim_now()
        return {"victim": self._victim.pid, "pid_namespace": os.readlink("/proc/self/ns/pid")}

    def victim_now(self) -> str:
        """What there is to know about the victim; an attack that reached it shows here."""
        if self._victim.poll() is not None:
            return f"it ended with {self._victim.returncode}"
        pid, said = self._victim.pid, []
        with contextlib.suppress(ProcessLookupError):
            said = [f"niceness {os.getpriority(os.PRIO_PROCESS, pid)}", f"processors {os.sched_getaffinity(pid)}"]
            with open(f"/proc/{pid}/limits", encoding="utf-8") as f:
                said += [line.strip() for line in f if line.startswith("Max open files")]
            with open(f"/proc/{pid}/oom_score_adj", encoding="utf-8") as f:
                said.append(f"killed first: {f.read().strip()}")
        return ", ".join(said)

    def litter(self) -> list[str]:
        """What bears the mark outside of the campaign's own folder, but for what it has put there itself."""
        found = []
        for folder in _OPEN_TO_ALL:
            with contextlib.suppress(OSError):
                found += [f"{folder}/{name}" for name in os.listdir(os.path.expanduser(folder)) if self.mark in name]
        return [path for path in found if path != f"/dev/shm/{self.mark}-shared"]

    def typed(self) -> bool:
        """Whether somebody typed into the terminal."""
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._slave, termios.FIONREAD, bytes(4)))
        return bool(waiting)

    def _shared(self) -> dict[str, Any]:
        secret = self._secret("shared memory of the host").encode()
        name = f"{self.mark}-shared"
        with open(f"/dev/shm/{name}", "wb") as f:
            f.write(secret)
        os.chmod(f"/dev/shm/{name}", 0o666)
        _libc.shmat.restype = ctypes.c_void_p
        self._segment = _libc.shmget(0, 4096, 0o1666)
        if self._segment >= 0:
            address = _libc.shmat(self._segment, None, 0)
            ctypes.memmove(address, secret, len(secret))
            _libc.shmdt(ctypes.c_void_p(address))
        return {"segment": self._segment, "shared": name, "terminal": os.ttyname(self._slave)}

    def _passwords(self) -> None:
        with contextlib.suppress(OSError), open("/etc/shadow", encoding="utf-8") as f:
            self.secrets["the passwords of the system"] = max(f.read().splitlines(), key=len)

    def _named(self, what: str) -> tuple[str, str]:
        return what, self._secret(what)

    def _secret(self, what: str) -> str:
        self.secrets[what] = secrets.token_hex(16)
        return self.secrets[what]

    def _write(self, name: str, text: str) -> str:
        path = f"{self.folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path


def _remove(path: str) -> None:
    path = os.path.expanduser(path)
    with contextlib.suppress(OSError):
        if os.path.isdir(path) and not os.path.islink(path):
            for folder, _, _ in os.walk(path):  # what may not be entered could not be removed
                os.chmod(folder, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.remove(path)


def end(mark: str) -> tuple[str, ...]:
    """Kill all that should be gone, again and again: what is being killed may just have started another.

    What stays all the same, in words.
    """
    until = time.monotonic() + _STUBBORN
    while (left := processes.marked(mark)) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    return tuple(f"process {pid}" for pid in left)
