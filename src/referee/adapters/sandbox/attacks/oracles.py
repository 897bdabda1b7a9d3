"""The judges: each looks at one kind of evidence on the host and says what it found, or nothing."""

from __future__ import annotations

import contextlib
import os
import subprocess

from referee.adapters.sandbox.attacks.inside.registry import Attack
from referee.adapters.sandbox.attacks.scene import INNER, Scene
from referee.adapters.sandbox.attacks.trees import difference, picture
from referee.adapters.sandbox.attacks.watch import Seen
from referee.ports import Execution, Limits

_MB = 1 << 20
_SLACK = {"tasks": 12, "memory": 160 * _MB, "written": 4 * _MB, "cpu": 2.0, "seconds": 3.0, "descriptors": 8}
_MOST_FILES = 18_500
_AS_ROOT = ("root", "capabilities")  # what a control that runs as root shows anyway


def told(scene: Scene, execution: Execution) -> list[str]:
    """Secrets of the host in what came out."""
    out = execution.stdout + execution.stderr + execution.channel
    found = [f"it read {what}" for what, secret in scene.secrets.items() if secret and secret.encode() in out]
    if f"reached:{scene.mark}".encode() in out:
        found.append("it reached a socket of the system")
    return found


def changed(scene: Scene) -> list[str]:
    """Files, listeners, the terminal and the process of the host."""
    found = []
    for name, before in scene.pictures.items():
        what = difference(before, picture(f"{scene.folder}/{name}"))
        if what:
            found.append(f"in {name} of the host, {what}")
    found += [f"it reached {what}" for what in sorted(scene.listeners.heard)]
    found += [f"it left {path} on the host" for path in scene.litter()]
    now = scene.victim_now()
    if now != scene.untouched:
        found.append(f"a process of the host was touched: {now}")
    if scene.typed():
        found.append("it typed into the terminal of the harness")
    return found


def protected(attack: Attack, seen: Seen, before: str) -> list[str]:
    """The protected path, as it is seen from where it always was."""
    if attack.promise == "setup":
        return ["it wrote to a protected path"] if "pwn" in seen.protected else []
    if not seen.looked:
        return ["nobody could look"] if attack.promise in ("files", "mounts", "namespaces") else []
    return [] if seen.protected == before else [f"the protected path is changed: {seen.protected[:80]!r}"]


def beyond(seen: Seen, limits: Limits, seconds: float, execution: Execution | None) -> list[str]:
    """Limits that were exceeded, by the host's own count."""
    counted = {
        "tasks": (seen.tasks, limits.processes), "memory": (seen.memory, limits.memory_bytes),
        "written": (seen.written, limits.disk_bytes), "cpu": (seen.cpu, limits.cpu_seconds or 1e9),
        "descriptors": (seen.descriptors, limits.open_files), "seconds": (seconds, limits.wall_seconds),
    }  # fmt: skip
    found = [
        f"{name}: {got:.0f} where {limit:.0f} are allowed"
        for name, (got, limit) in counted.items()
        if got > limit + _SLACK[name]
    ]
    if seen.largest > limits.file_bytes:
        found.append(f"a file of {seen.largest} bytes where {limits.file_bytes} are allowed")
    if seen.files > _MOST_FILES:
        found.append(f"{seen.files} files")
    if execution and len(execution.stdout) + len(execution.stderr) > 2 * limits.output_bytes + 4096:
        found.append(f"{len(execution.stdout) + len(execution.stderr)} bytes of output were kept")
    return found


def standing(attack: Attack, seen: Seen, as_root: bool) -> list[str]:
    """What the kernel says that the attacker is and has."""
    ignored = _AS_ROOT if as_root and attack.promise != "privileges" else ()
    return [said for kind, said in seen.wrong.items() if kind not in ignored]


def original(scene: Scene) -> str:
    """How the protected path looks when nobody has touched it."""
    path = f"{scene.folder}/tree/protected"
    with contextlib.suppress(OSError):
        return f"{INNER}{sorted(os.listdir(path))} {os.lstat(f'{path}/inner').st_mtime_ns} []"
    return ""


def afterwards(attack: Attack, scene: Scene, python: str) -> list[str]:
    """What the user's own git and Python do with what was left."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": scene.folder}
    if attack.prepare == "git":
        env |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        for folder in ("tree", "tools"):
            for words in (("add", "-A"), ("status",)):
                _run(["git", "-C", f"{scene.folder}/{folder}/repository", *words], env)
    elif attack.prepare == "python":
        code = "import site, sys; site.addsitedir(sys.argv[1]); import module"
        for folder in (f"{scene.folder}/tree", f"{scene.folder}/tools"):
            _run([python, "-B", "-c", code, folder], {**env, "PYTHONPATH": folder})
    ran = os.path.exists(f"{scene.folder}/outside/canary-ran")
    return ["the host ran a program that it had left"] if ran else []


def _run(argv: list[str], env: dict[str, str]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired, FileNotFoundError):
        subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
