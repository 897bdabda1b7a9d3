"""Which sandbox to use: the best one whose probes all pass, or a refusal that says what to do."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from referee.adapters.sandbox.bare import BareSandbox
from referee.adapters.sandbox.bubblewrap import BubblewrapSandbox
from referee.adapters.sandbox.probe import OK, self_check
from referee.adapters.sandbox.requests import HERE
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.domain.errors import WorldFault
from referee.domain.value import Value
from referee.ports import Level, Sandbox

_CACHE = "sandbox-probes.json"
_ADVICE = {
    "userns": "allow user namespaces (sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1; "
    "in a container, a seccomp profile that allows unshare and mount, and an unmasked /proc)",
    "bubblewrap": "install the package bubblewrap; on Ubuntu it also needs its AppArmor profile",
}


class Examined(Value):
    """One backend: whether it may be used, and what each probe said."""

    name: str
    usable: bool
    why_not: str = ""
    level: Level
    probes: Mapping[str, str] = {}
    advice: str = ""


class Choice(Value):
    """All backends examined, best first, and the one to use; empty if there is none."""

    backends: tuple[Examined, ...]
    chosen: str = ""


def choose(*, allow_degraded: bool, everything: bool = False) -> Choice:
    """Examine backends in order and stop at the first usable one, unless `everything` is wanted."""
    examined: list[Examined] = []
    for name in ("userns", "bubblewrap"):
        examined.append(_examine(name))
        if examined[-1].usable and not everything:
            break
    if allow_degraded or everything:
        why = "" if allow_degraded else "isolates nothing; --allow-degraded permits it"
        examined.append(Examined(name="bare", usable=allow_degraded, why_not=why, level=Level.NONE))
    chosen = next((e.name for e in examined if e.usable), "")
    return Choice(backends=tuple(examined), chosen=chosen)


def survey() -> dict[str, Any]:
    """Every backend examined now: the document of `referee doctor --json`."""
    return choose(allow_degraded=False, everything=True).model_dump(mode="json")


def open_sandbox(*, allow_degraded: bool, cache_dir: str) -> Sandbox:
    """The best sandbox this machine offers; the finding is kept in `cache_dir` until something changes.

    Raises `WorldFault` if nothing isolates and `allow_degraded` is not given. What was chosen is in
    `Sandbox.isolation`: a caller says so loudly if that is not full.
    """
    path = os.path.join(cache_dir, _CACHE)
    choice = _remembered(path) or choose(allow_degraded=allow_degraded)
    if choice.chosen == "":
        raise WorldFault(_refusal(choice))
    if choice.chosen != "bare":
        _remember(path, choice)
    return _open(choice.chosen)


def _open(name: str) -> Sandbox:
    if name == "userns":
        return UsernsSandbox()
    return BubblewrapSandbox() if name == "bubblewrap" else BareSandbox()


def _examine(name: str) -> Examined:
    sandbox = _open(name)
    try:
        probes = self_check(sandbox)
    finally:
        sandbox.close()
    failed = [f"{probe}: {said}" for probe, said in probes.items() if said != OK]
    level = Level.FULL if not failed else Level.NONE
    advice = _ADVICE[name] if failed else ""
    why_not = "; ".join(failed)
    return Examined(name=name, usable=not failed, why_not=why_not, level=level, probes=probes, advice=advice)


def _refusal(choice: Choice) -> str:
    lines = ["nothing on this machine isolates commands well enough:"]
    lines += [f"  {e.name}: {e.why_not}\n    to mend it: {e.advice}" for e in choice.backends]
    lines.append("--allow-degraded runs commands without isolation; do that only with code you trust")
    return "\n".join(lines)


def _circumstances() -> str:
    """Whatever, if it changes, makes an earlier finding worthless."""
    try:
        release = version("referee")
    except PackageNotFoundError:
        release = ""
    with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as f:
        boot = f.read().strip()
    stamps = [os.stat(os.path.join(HERE, "stage", name)).st_mtime_ns for name in sorted(os.listdir(f"{HERE}/stage"))]
    return json.dumps([release, boot, platform.release(), os.getuid(), sys.executable, shutil.which("bwrap"), stamps])


def _remembered(path: str) -> Choice | None:
    # An unreadable or foreign cache costs only the second that probing takes.
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
        if kept["circumstances"] == _circumstances():
            return Choice.model_validate(kept["choice"])
    return None


def _remember(path: str, choice: Choice) -> None:
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as f:
            json.dump({"circumstances": _circumstances(), "choice": choice.model_dump(mode="json")}, f)
        os.replace(f"{path}.{os.getpid()}", path)
