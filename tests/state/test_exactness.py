"""The exactness matrix: a run, landed or not, and its rollback leave every byte as it was, or refuse in words.

Every subject (origin x change x staging) stands in every repository; in each turn a run does another operation to
each of them. One turn a repository by default; REFEREE_MATRIX=full plays all seven, which is the whole product.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from exact_ground import Ground
from exact_oracle import as_landed, differences
from exact_play import OPERATIONS, Play, tries
from exact_settings import SETTINGS, Setting

from referee.adapters.git import GitWorkspace
from referee.domain.errors import UsageError

FULL = os.environ.get("REFEREE_MATRIX") == "full"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def turns(n: int) -> tuple[int, ...]:
    return tuple(range(len(OPERATIONS))) if FULL else (n % len(OPERATIONS),)


@pytest.mark.parametrize(
    ("setting", "turns"),
    [
        pytest.param(setting, turns(n), id=setting.name, marks=[needs_root] if setting.name == "other owner" else [])
        for n, setting in enumerate(SETTINGS)
    ],
)
def test_everything_is_as_it_was(tmp_path: Path, setting: Setting, turns: tuple[int, ...]) -> None:
    ground = Ground(os.fsencode(tmp_path), setting)
    if setting.refuses:
        refused(ground)
        return
    for turn in turns:
        workspace = GitWorkspace(os.fsdecode(ground.root))
        try:
            play(ground, workspace, turn)
        finally:
            workspace.close()


def refused(ground: Ground) -> None:
    before = ground.seen()
    workspace = GitWorkspace(os.fsdecode(ground.root))
    with pytest.raises(UsageError, match=ground.setting.refuses):
        workspace.snapshot("run")
    workspace.close()
    assert differences(before[0], ground.seen()[0]) == []
    assert ground.seen()[1] == before[1]


def play(ground: Ground, workspace: GitWorkspace, turn: int) -> None:
    before, said = ground.seen()
    run_id = f"turn{turn}"
    tree = workspace.snapshot(run_id).tree
    assert ground.unlike(workspace, tree) == []
    wanted = tries(ground, workspace, tree, turn)
    workspace.base(tree, lambda _: False)
    assert differences(before, ground.seen()[0]) == [], "a run that lands nothing"
    run = Play(workspace, run_id, tree, wanted)
    start = time.time_ns()
    written = run.land(ground.root)
    assert {t.path: run.outcomes[t.path] for t in wanted} == {t.path: t.expected for t in wanted}
    changes = dict(zip(ground.within(run.changes()), run.changes().values(), strict=True))
    landed = ground.seen()[0]
    assert as_landed(before, landed, changes) == []
    assert ground.unlike(workspace, workspace.snapshot(run_id + "-landed").tree) == []
    restoration = workspace.rollback(run_id)
    assert (restoration.kept, dict(restoration.failed)) == ((), {})
    assert restoration.restored == written
    after, says = ground.seen()
    touched = frozenset(changes)
    assert differences(before, after, touched=touched) == []
    assert says == said
    assert workspace.snapshot(run_id + "-after").tree == tree
    # What was built from the landed files must look old: a restored file is newer than the landing.
    slack = 20_000_000  # the kernel's clock for files ticks in jiffies
    assert [p for p in touched & after.keys() if after[p].time < start - slack] == []
