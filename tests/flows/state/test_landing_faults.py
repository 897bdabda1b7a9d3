"""A disk that fails at any call of a landing or a rollback: never half a state, always a sentence and exit 69."""

from __future__ import annotations

import os
from pathlib import Path

import oracle
import pytest
from faults import KINDS, NAMES, SHORT, Disk
from scene import Act, Scene, files, land, recover, roll_back

from referee.domain.errors import RefereeError

EVERY = int(os.environ.get("REFEREE_FAULTS_EVERY", "8"))  # 1: at every call


def act_on(scene: Scene, disk: Disk, act: Act | None = None) -> RefereeError | None:
    """Act while the disk fails; what was said."""
    try:
        with disk.in_place():
            (act or scene.act)(scene.root, lambda _: None)
    except RefereeError as said:
        return said
    finally:
        oracle.close_all()
    return None


def contents(state: dict[bytes, tuple[object, ...]]) -> dict[bytes, tuple[object, ...]]:
    """A state without its folders."""
    return {path: facts for path, facts in state.items() if facts[0] != "other"}


def calls(scene: Scene, kind: int) -> int:
    """How many calls an undisturbed act makes that such a disk could refuse."""
    scene.reset()
    disk = Disk(kind=kind)
    assert act_on(scene, disk) is None
    assert files(scene.root) == scene.new
    return disk.calls


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("kind", KINDS, ids=NAMES.get)
@pytest.mark.parametrize("act", [land, roll_back])
def test_a_failing_call_ends_in_all_or_nothing(place: Path, act: Act, kind: int, lasting: bool) -> None:
    scene = Scene(place, act)
    scene.reset()
    last = calls(scene, kind)
    for n in range(1 + (kind + lasting) % EVERY, last + 1, EVERY):
        scene.reset()
        disk = Disk(n, kind, lasting=lasting)
        said = act_on(scene, disk)
        where = f"{NAMES[kind]} at call {n} {disk.failed[:2]}"
        now = files(scene.root)
        if contents(now) not in (contents(scene.old), contents(scene.new)):
            assert lasting, f"{where}: half a state"
            assert said is not None and "as a whole" in str(said), f"{where}: {said}"
        if said is not None:
            assert said.exit_code == 69, f"{where}: {said}"
            assert "no file of yours is half changed" not in str(said) or now in (scene.old, scene.new)
        end = scene.end()
        assert end in (scene.old, scene.new), f"{where}: half a state after recovery"
        assert end == now or now != scene.old, f"{where}: changed after all"
        act_on(scene, Disk())  # and the same again succeeds
        assert files(scene.root) == scene.new, where


@pytest.mark.parametrize("act", [land, roll_back])
def test_a_write_that_takes_only_a_part_is_gone_on_with(place: Path, act: Act) -> None:
    scene = Scene(place, act)
    scene.reset()
    disk = Disk(1, SHORT, lasting=True)
    assert act_on(scene, disk) is None
    assert files(scene.root) == scene.new
    assert "write" in disk.failed


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=NAMES.get)
def test_recovery_may_fail_as_well(place: Path, kind: int) -> None:
    """A kill in the middle of a landing, then a disk that fails at each call of the recovery in turn."""
    scene = Scene(place, land)
    for n in range(1, 60, EVERY):
        scene.reset()
        assert scene.kill(scene.points // 2)
        disk = Disk(n, kind, lasting=bool(n % 2))
        said = act_on(scene, disk, recover)
        assert said is None or said.exit_code == 69, f"{NAMES[kind]} at call {n}: {said}"
        assert scene.end() in (scene.old, scene.new), f"{NAMES[kind]} at call {n} {disk.failed[:2]}"
