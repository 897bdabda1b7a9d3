"""Runs one attack in a child and stays to be looked at: `main.py` NAME SCENE."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import NoReturn

from . import calls, files, floods, lasting, mounts, processes, reach, secrets
from .registry import ATTACKS, Attack, Scene
from .system import PATIENCE

MODULES = (files, mounts, calls, secrets, reach, processes, floods, lasting)
LOOKER, DONE = "attack-looker", "attack-done"  # names that tell the host who is who


def main() -> NoReturn:
    """Attack, and end when the host says that it has looked."""
    scene: Scene = json.loads(sys.argv[2])
    call_yourself(LOOKER)
    child = os.fork()
    if child == 0:
        _attack(ATTACKS[sys.argv[1]], scene)
    signal.signal(signal.SIGUSR1, lambda *_: _leave(child))
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        time.sleep(PATIENCE)
    call_yourself(DONE)  # it died trying; the look is due all the same
    time.sleep(PATIENCE)
    os._exit(3)


def _leave(child: int) -> NoReturn:
    """The attacker goes; what it has started is for the sandbox to end."""
    try:
        os.kill(child, signal.SIGKILL)
    finally:
        os._exit(0)


def call_yourself(name: str) -> None:
    """Set this thread's name, which the host reads."""
    with open("/proc/self/comm", "w", encoding="utf-8") as f:
        f.write(name)


def _attack(attack: Attack, scene: Scene) -> NoReturn:
    kept: object = None
    try:
        kept = attack.do(scene)
    except OSError as e:
        print(f"{attack.name}: {e}", file=sys.stderr)
    except ValueError as e:
        print(f"{attack.name}: {e}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    call_yourself(DONE)
    time.sleep(PATIENCE)
    os._exit(0 if kept is None else 2)
