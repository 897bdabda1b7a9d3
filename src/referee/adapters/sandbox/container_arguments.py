"""The command line of podman or docker for one request, and the empty image that it starts from."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import resource
import tarfile

from referee.adapters.sandbox.bubblewrap_arguments import rooms
from referee.adapters.sandbox.stage import places, system
from referee.adapters.sandbox.stage.request import Bind, Request
from referee.adapters.sandbox.stage.view import BASE

_FOLDERS = ("etc", "usr", "home", system.HOME[1:], "tmp", "run", "run/referee", "proc", "sys", "dev", "var", "opt")
_MORE_FOLDERS = ("mnt", "root", "srv")
_OWN_PROCESSES, _OWN_MEMORY = 4, 64 << 20  # what the processes of the stage need beside the command
_MOST = 16_384  # of open files and of all processes of the user; a command has limits of its own inside
_ISOLATION = (
    "--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
    "--security-opt", "label=disable", "--ipc", "private", "--hostname", system.HOSTNAME, "--pull", "never",
    "--log-driver", "none", "--workdir", "/", "--ulimit", "core=0:0",
)  # fmt: skip
_OF_PODMAN = ("--read-only-tmpfs=false", "--no-hosts", "--passwd=false")


def image() -> tuple[str, bytes]:
    """The name and the archive of an image that holds folders and links only: all else is shown of this host."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in (*_FOLDERS, *_MORE_FOLDERS):
            archive.addfile(_entry(path, tarfile.DIRTYPE))
        for path in system.MERGED:
            if os.path.islink(path):
                archive.addfile(_entry(path[1:], tarfile.SYMTYPE, os.readlink(path)))
        archive.addfile(_entry("var/tmp", tarfile.SYMTYPE, "/tmp"))  # noqa: S108
    data = buffer.getvalue()
    return f"localhost/referee-empty:{hashlib.sha256(data).hexdigest()[:12]}", data


def arguments(inner: Request, binds: list[Bind], name: str, user: tuple[int, int], podman: bool) -> list[str]:
    """Everything after the engine's own name and before the image: a container `name` that runs as `user`."""
    argv = ["run", "--rm", "--name", name, *_ISOLATION, "--user", f"{user[0]}:{user[1]}"]
    argv += _OF_PODMAN if podman else ()
    argv += ["--userns", "keep-id"] if podman and os.geteuid() != 0 else []
    argv += _limits(inner)
    for path, size in rooms(inner).items():
        if path == "/dev/shm":  # noqa: S108
            argv += ["--shm-size", str(size)]
        else:
            mode = "0700" if path == system.HOME and not podman else "1777"
            argv += ["--tmpfs", f"{path}:rw,exec,nosuid,nodev,size={size},mode={mode}"]
    system_folders = ("/usr", *(p for p in system.MERGED if os.path.isdir(p) and not os.path.islink(p)))
    shown = [*(Bind(p, p) for p in system_folders), *binds]
    shown += [Bind(p, p) for p in system.ETC_FOLDERS if os.path.isdir(p)]
    for bind in (*shown, *_protected(inner, binds)):
        argv += ["--mount", _mount(bind)]
    return argv


def _limits(inner: Request) -> list[str]:
    bounds = inner.bounds
    argv = ["--pids-limit", str(bounds.processes + _OWN_PROCESSES)]
    if bounds.memory is not None:
        most = str(bounds.memory + _OWN_MEMORY)
        argv += ["--memory", most, "--memory-swap", most]
    # An engine's own defaults may be above what this process may pass on.
    for what, which in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        hard = resource.getrlimit(which)[1]
        hard = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
        argv += ["--ulimit", f"{what}={hard}:{hard}"]
    return argv


def _protected(inner: Request, binds: list[Bind]) -> list[Bind]:
    """The protected paths, shown from the base itself over the copy of it."""
    base = next((b.source for b in binds if b.target == BASE), "")
    if inner.lower is None:
        return []
    plain = ["/".join(places.components(path)) for path in inner.lower.protected]
    return [Bind(f"{base}/{path}", f"{inner.lower.mount_at}/{path}") for path in plain]


def _mount(bind: Bind) -> str:
    """A mount in the engines' own notation, which is a line of comma-separated values."""
    line = io.StringIO()
    fields = ["type=bind", f"source={os.path.realpath(bind.source)}", f"target={bind.target}", "readonly"]
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def _entry(path: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.type, entry.linkname, entry.mode = kind, target, 0o755
    return entry
