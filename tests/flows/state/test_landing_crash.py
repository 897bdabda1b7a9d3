"""Power loss in the middle of a landing or a rollback: killed at every point, and again while recovering."""

from __future__ import annotations

from pathlib import Path

import oracle
import pytest
from scene import Act, Scene, files, land, others, recover, roll_back

from referee.adapters.git import stage as staging
from referee.adapters.git.rename import Plain

MINE = b"written by the user after the crash\n"


@pytest.fixture(params=["atomic", "plain"])
def _renames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(staging, "renames_for", lambda _, point: Plain(point))


@pytest.mark.slow
@pytest.mark.usefixtures("_renames")
@pytest.mark.parametrize("act", [land, roll_back])
def test_a_kill_at_any_point_ends_in_all_or_nothing(place: Path, act: Act) -> None:
    """Cases I1 and I2: zero mixed states after recovery, with a second kill during every recovery."""
    scene = Scene(place, act)
    assert scene.points >= 22
    mixed_before, ends = 0, {"old": 0, "new": 0}
    for n in range(1, scene.points + 1):
        scene.reset()
        assert scene.kill(n)
        mixed_before += files(scene.root) not in (scene.old, scene.new)
        scene.kill(1 + n % 7, recover)
        end = scene.end()
        assert end in (scene.old, scene.new), f"mixed after a kill at point {n}"
        ends["old" if end == scene.old else "new"] += 1
        if n % 3 == 0:
            act(scene.root, lambda _: None)  # the same again: no harm, and it gets there
            oracle.close_all()
            assert files(scene.root) == scene.new
    assert mixed_before >= 5, "the control: the kills do hit half-made changes"
    assert min(ends.values()) >= 2


@pytest.mark.slow
def test_recovery_killed_at_every_one_of_its_points(place: Path) -> None:
    """A kill between two files, then recoveries that each die one point later."""
    scene = Scene(place, land)
    for first in (scene.points // 3, scene.points // 2, 2 * scene.points // 3):
        scene.reset()
        assert scene.kill(first)
        deaths = 0
        while scene.kill(deaths + 1, recover):
            deaths += 1
            assert deaths < 100
        assert deaths >= 1
        assert scene.end() in (scene.old, scene.new)


@pytest.mark.slow
@pytest.mark.parametrize("act", [land, roll_back])
def test_what_the_user_writes_after_a_crash_stays(place: Path, act: Act) -> None:
    """At every point, to a file that is replaced, deleted or created in turn."""
    scene = Scene(place, act)
    for n in range(1, scene.points + 1):
        path = ("src/m1.py", "src/m3.py", "deep/er/new.py")[n % 3]
        scene.reset()
        scene.kill(n)
        oracle.write(scene.root, path, MINE)
        end = scene.end()
        assert (scene.root / path).read_bytes() == MINE, f"overwritten after a kill at point {n}"
        assert others(end, path) in (others(scene.old, path), others(scene.new, path)), f"mixed after point {n}"


def test_a_crash_is_told_in_words(place: Path) -> None:
    scene = Scene(place, land)
    said = set()
    for n in range(1, scene.points + 1, 3):
        scene.reset()
        scene.kill(n)
        workspace = oracle.workspace(scene.root)
        said |= {words.split(":")[0] for words in workspace.recover()}
        assert workspace.recover() == ()
        landed = workspace.landed("run")
        assert (landed is not None) == (files(scene.root) == scene.new)
        oracle.close_all()
    assert "finished the interrupted landing of run run" in said
    assert "removed what an interrupted landing had staged; no file of yours had changed" in said
