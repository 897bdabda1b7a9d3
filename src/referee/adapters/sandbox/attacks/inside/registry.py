"""What an attack is, and the list of all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Scene = dict[str, Any]  # what the host has prepared: paths, ports and process ids, but none of its secrets
Deed = Callable[[Scene], object]  # what it returns is held open until the host has looked


@dataclass(frozen=True)
class Attack:
    """One try. `promise` is the part of the isolation that must stop it.

    `control` says as whom it succeeds without a sandbox: `anybody`, `root`, the `owner` of the workspace, or a `user`
    for whom root has prepared something. `limits` are those of the command. `prepare` names what the host arranges
    first. `needed` says what a machine must have for it to succeed anywhere.
    """

    name: str
    promise: str
    do: Deed
    control: str = "anybody"
    prepare: str = ""
    needed: str = ""
    limits: dict[str, float] = field(default_factory=dict)


ATTACKS: dict[str, Attack] = {}


def attack(promise: str, name: str, **more: Any) -> Callable[[Deed], Deed]:
    """Register a function as an attack."""

    def register(do: Deed) -> Deed:
        if name in ATTACKS:
            raise ValueError(f"two attacks are called {name!r}")
        ATTACKS[name] = Attack(name, promise, do, **more)
        return do

    return register


def shell(promise: str, scripts: dict[str, str], **more: Any) -> None:
    """Register shell scripts, run in the workspace, as attacks."""
    for name, script in scripts.items():
        attack(promise, name, **more)(_runs(script))


def _runs(script: str) -> Deed:
    def run(scene: Scene) -> object:
        env = {**os.environ, "T": "protected/inner", "ROOT": scene["root"], "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        subprocess.run(["sh", "-c", script], env=env, cwd=scene["root"], stdin=subprocess.DEVNULL, check=False)
        return None

    return run
