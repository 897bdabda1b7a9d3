"""SIGKILL, Ctrl-C and SIGTERM at random moments of a real run: the tree is exactly before or exactly after."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small

ROUNDS = int(os.environ.get("REFEREE_KILLS", "6"))
ANSWERS = [
    small.content(small.BUGGY.replace("a - b", "a * b")),
    small.proposal(edits=[{"old": "a * b", "new": "a + b"}]),
]


def referee(repo: Path, *args: str) -> subprocess.Popen[bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": str(repo.parent), "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "referee", *args, "--repo", str(repo), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)


def start(tmp_path: Path, name: str) -> tuple[Path, subprocess.Popen[bytes]]:
    repo = small.build(tmp_path / name)
    model = small.script(tmp_path / f"{name}.jsonl", *ANSWERS)
    run = referee(repo, "fix", "--target", small.TARGET, "--generator", "model", "--model", model)
    return repo, run


def newest(repo: Path) -> str:
    out, _ = referee(repo, "runs").communicate(timeout=60)
    return str(json.loads(out.splitlines()[0])["run_id"])


def contents(repo: Path) -> tuple[str, str, str]:
    names = sorted(
        p.relative_to(repo).as_posix() for p in repo.rglob("*") if ".git" not in p.parts and ".harness" not in p.parts
    )
    return (repo / "calc.py").read_text(), (repo / "tests/test_calc.py").read_text(), " ".join(names)


BEFORE = (small.BUGGY, small.TESTS, "calc.py tests tests/test_calc.py")
AFTER = (small.FIXED, *BEFORE[1:])


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long an undisturbed run takes here, in seconds."""
    began = time.monotonic()
    repo, run = start(tmp_path_factory.mktemp("usual"), "repo")
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err.decode()
    assert json.loads(out)["stop_reason"] == "solved"
    assert contents(repo) == AFTER
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("n", range(ROUNDS))
def test_a_kill_at_any_moment_leaves_all_or_nothing_and_resumes(tmp_path: Path, usual: float, n: int) -> None:
    moment = random.Random(n).uniform(0, usual)
    repo, run = start(tmp_path, "repo")
    time.sleep(moment)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)
    assert contents(repo) in (BEFORE, AFTER), f"killed after {moment:.2f} s"
    if not (repo / ".harness/state.db").exists() or not (listed := referee(repo, "runs").communicate(timeout=60)[0]):
        assert contents(repo) == BEFORE
        return
    record = json.loads(listed.splitlines()[0])
    resumed = referee(repo, "resume", record["run_id"])
    out, err = resumed.communicate(timeout=120)
    if record["status"] == "done":
        assert resumed.returncode == 2
    else:
        assert resumed.returncode == 0, err.decode()
        assert json.loads(out)["solved"] is True
    assert contents(repo) == AFTER


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_stopping_by_hand_exits_130_keeps_the_tree_and_can_be_resumed(
    tmp_path: Path, usual: float, kind: signal.Signals
) -> None:
    repo, run = start(tmp_path, "repo")
    time.sleep(usual / 2)
    run.send_signal(kind)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    assert json.loads(out)["stop_reason"] == "human_abort"
    assert contents(repo) == BEFORE
    resumed = referee(repo, "resume", newest(repo))
    out, err = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, err.decode()
    assert contents(repo) == AFTER
