"""SIGKILL at random moments, not only at the points we know of: of landings, rollbacks and the recovery after them."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import oracle
import pytest
from scene import Act, Scene, files, land, recover, roll_back

KILLS = int(os.environ.get("REFEREE_KILLS", "12"))


class Child:
    """A process that acts, and tells when it comes to its first step."""

    def __init__(self, act: Act, root: Path) -> None:
        self._told, tell = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                act(root, lambda _: os.write(tell, b"."))  # far fewer than a pipe holds
            finally:
                os._exit(0)
        os.close(tell)

    def begun(self) -> None:
        """Wait for the first step, or the end."""
        os.read(self._told, 1)

    def wait(self) -> None:
        """Wait for the end."""
        os.waitpid(self._pid, 0)
        os.close(self._told)

    def kill(self) -> bool:
        """End it now; False if it had ended."""
        os.kill(self._pid, signal.SIGKILL)
        _, ended = os.waitpid(self._pid, 0)
        os.close(self._told)
        return os.WIFSIGNALED(ended)


def usual(scene: Scene) -> tuple[float, float]:
    """Seconds that an undisturbed act takes, from its start and from its first step."""
    whole, steps = [], []
    for _ in range(3):
        scene.reset()
        began = time.monotonic()
        child = Child(scene.act, scene.root)
        child.begun()
        first = time.monotonic()
        child.wait()
        whole.append(time.monotonic() - began)
        steps.append(time.monotonic() - first)
    return min(whole), min(steps)


def killed(act: Act, root: Path, moment: float, *, from_first_step: bool) -> bool:
    """Act and die after `moment` seconds."""
    child = Child(act, root)
    if from_first_step:
        child.begun()
    time.sleep(moment)
    return child.kill()


@pytest.mark.slow
@pytest.mark.parametrize("act", [land, roll_back])
def test_before_or_after_never_between(place: Path, act: Act) -> None:
    """Most kills come while files change; half of the recoveries are killed as well."""
    scene, chance = Scene(place, act), random.Random(7)
    whole, steps = usual(scene)
    seen = {"old": 0, "new": 0, "between before recovery": 0, "recovery killed": 0}
    for n in range(KILLS):
        scene.reset()
        late = n % 4 > 0
        moment = chance.uniform(0, steps if late else whole)
        killed(act, scene.root, moment, from_first_step=late)
        seen["between before recovery"] += files(scene.root) not in (scene.old, scene.new)
        if n % 2:
            until = chance.uniform(0, steps if late else whole)
            seen["recovery killed"] += killed(recover, scene.root, until, from_first_step=False)
        end = scene.end()
        assert end in (scene.old, scene.new), f"kill {n} after {moment:.4f} s: between"
        seen["old" if end == scene.old else "new"] += 1
        if n % 5 == 0:
            act(scene.root, lambda _: None)
            oracle.close_all()
            assert files(scene.root) == scene.new
    print(f"{act.__name__}: {KILLS} kills: {seen}")
    if KILLS >= 100:
        assert all(seen.values()), "the control: kills come early, late and in between"
