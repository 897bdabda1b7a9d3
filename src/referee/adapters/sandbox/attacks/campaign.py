"""Attacking a sandbox, and the score."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from referee.adapters.sandbox.attacks import oracles, processes, scene, watch
from referee.adapters.sandbox.attacks.inside.registry import Attack
from referee.adapters.sandbox.attacks.scene import ROOT, TOOLS, Scene
from referee.adapters.sandbox.requests import HERE
from referee.domain.errors import WorldFault
from referee.domain.value import Value
from referee.ports import Base, Command, Execution, Isolation, Level, Limits, Mount, Sandbox

_INSIDE = "/home/attack/inside"
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from inside import main; main.main()"
_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=20.0, memory_bytes=512 << 20, disk_bytes=64 << 20, processes=64)
_SETTLE = 0.5  # seconds that what is being killed may take to be gone
_LANES = 8
_COUNTING = ("limits", "survival")  # attacks whose toll on the machine is counted
_IN_SHOWN_FOLDER = "connect to a socket in a folder that is shown"


class Outcome(Value):
    """How one attack ended. `said` is what it achieved, or why it was not tried; `left` what could not be removed."""

    name: str
    promise: str
    stopped: bool
    tried: bool = True
    said: str = ""
    left: tuple[str, ...] = ()


def unclaimed(isolation: Isolation, attack: Attack) -> str:
    """Why a backend does not say that it stops `attack`; empty if it does."""
    if isolation.level is Level.FULL:
        open_door = attack.name == _IN_SHOWN_FOLDER and isolation.backend != "userns"
        return "a folder that it shows must hold no socket that anybody may use" if open_door else ""
    return f"{isolation.backend} does not say that it stops this"


def campaign(
    sandbox: Sandbox,
    attacks: Iterable[Attack],
    python: str = "",
    tell: Callable[[Outcome], None] | None = None,
    control: bool = False,
) -> list[Outcome]:
    """Try `attacks` on `sandbox`, several at a time, and judge each; `tell` hears of each as it ends.

    `control` says that there is no sandbox, so that running as root is no finding. Raises `WorldFault` if the
    sandbox does not start at all.
    """
    os.environ[scene.VARIABLE] = secrets.token_hex(16)
    try:
        with ThreadPoolExecutor(_LANES) as lanes:
            tries = [lanes.submit(_try, sandbox, attack, python, control) for attack in attacks]
            outcomes = []
            for each in tries:
                outcomes.append(each.result())
                if tell is not None:
                    tell(outcomes[-1])
        return outcomes
    finally:
        del os.environ[scene.VARIABLE]


def _try(sandbox: Sandbox, attack: Attack, python: str, control: bool) -> Outcome:
    why_not = "" if control else unclaimed(sandbox.isolation, attack)
    why_not = why_not or _cannot_try(attack)
    if why_not:
        return Outcome(name=attack.name, promise=attack.promise, stopped=False, tried=False, said=why_not)
    host = Scene(attack)
    try:
        found = _attack(sandbox, attack, host, python, control)
    finally:
        left = (*scene.end(host.mark), *host.close())
    return Outcome(name=attack.name, promise=attack.promise, stopped=not found, said="; ".join(found), left=left)


def _cannot_try(attack: Attack) -> str:
    if attack.control == "user" and os.geteuid() != 0:
        return "only root can prepare it"
    if attack.prepare == "git" and shutil.which("git") is None:
        return "there is no git"
    return ""


def _attack(sandbox: Sandbox, attack: Attack, host: Scene, python: str, control: bool) -> list[str]:
    """What the attack achieved."""
    command, before = _command(attack, host, python or os.path.realpath(sys.executable)), oracles.original(host)
    watching = watch.Watch(host.mark, attack.promise in _COUNTING)
    watching.start()
    began, execution, refused = time.monotonic(), None, ""
    try:
        execution = sandbox.run(command)
    except WorldFault as e:
        refused = str(e)
    finally:
        seconds, seen = time.monotonic() - began, watching.finish()
    if refused and attack.promise != "setup":
        return [f"the sandbox did not start: {refused}"]
    found = oracles.protected(attack, seen, before) + oracles.standing(attack, seen, control)
    found += oracles.beyond(seen, command.limits, seconds, execution)
    left = watch.settle(host.mark, _SETTLE)
    found += [f"{len(left)} processes are left"] if left else []
    found += oracles.told(host, execution) if execution else []
    found += oracles.changed(host)
    if attack.prepare == "next":
        found += _next(sandbox, command, host)
    return found + oracles.afterwards(attack, host, command.argv[0])


def _command(attack: Attack, host: Scene, python: str) -> Command:
    words = {
        **host.words, "root": ROOT, "tools": TOOLS, "outside": f"{host.folder}/outside", "mark": host.mark,
        "canary": f"{host.folder}/outside/canary",
    }  # fmt: skip
    prefixes = {os.path.dirname(os.path.dirname(python))} - {"/usr"}
    return Command(
        argv=(python, "-I", "-S", "-B", "-c", _START, os.path.dirname(_INSIDE), attack.name, json.dumps(words)),
        base=Base(tree="attack", path=f"{host.folder}/tree", mount_at=ROOT, protected=("protected",)),
        cwd=ROOT,
        env={processes.VARIABLE: host.mark},
        mounts=(
            Mount(source=os.path.join(HERE, "attacks", "inside"), target=_INSIDE),
            Mount(source=f"{host.folder}/tools", target=TOOLS),
            *(Mount(source=path, target=path) for path in sorted(prefixes)),
        ),
        limits=_LIMITS.model_copy(update=attack.limits),
    )


def _next(sandbox: Sandbox, command: Command, host: Scene) -> list[str]:
    """What the next command finds of what this one has left."""
    usual = "/*/$1-left ~/$1-left $1-left /dev/shm/$1-left"  # all of a machine is searched only where it is small
    script = f'ls {usual} 2>/dev/null | grep . || find / -xdev -name "*$1-left" 2>/dev/null'
    again: Execution = sandbox.run(command.model_copy(update={"argv": ("sh", "-c", script, "sh", host.mark)}))
    return ["the next command finds what it left"] if f"{host.mark}-left".encode() in again.stdout else []
