"""Unsolved runs on messy repositories leave every file, the index and `git status` byte for byte as they were."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.task import Task

RUNS = int(os.environ.get("REFEREE_MESSES", "3"))
ODD = (
    "späce name.txt",
    "new\nline.txt",
    "tab\t.txt",
    'quo"te.txt',
    "-dash.txt",
    "日本語.txt",
    " lead.txt",
    "semi;colon.txt",
)
WRONG = (
    small.content(small.BUGGY.replace("a - b", "a * b")),
    small.proposal("tests/test_calc.py", action="modify", content="def test_add(): pass\n"),
    small.proposal("../outside.py", action="create", content="x = 1\n"),
    small.proposal(edits=[{"old": "not there", "new": "x"}]),
    small.content("import os\nos._exit(0)\n"),
    "no json at all",
)


def mess(root: Path, chance: random.Random) -> Path:
    """A repository with something of everything: staged, unstaged, untracked, ignored, links, modes, odd names."""
    repo = small.build(root)
    for name in ["staged.txt", "partly.txt", "deleted.txt", "gone.txt", "renamed.txt", "script.sh", "crlf.txt"]:
        (repo / name).write_bytes(chance.randbytes(20).hex().encode() + b"\r\nline\r\n")
    (repo / ".gitignore").write_text("*.log\nignored/\n")
    (repo / ".gitattributes").write_text("crlf.txt text eol=crlf\n*.bin filter=lfs diff=lfs\n")
    (repo / "pointer.bin").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    small.git(repo, "add", "-A")
    small.git(repo, "commit", "-qm", "more")
    (repo / "staged.txt").write_text("staged\n")
    small.git(repo, "add", "staged.txt")
    (repo / "partly.txt").write_text("first\n")
    small.git(repo, "add", "partly.txt")
    (repo / "partly.txt").write_text("first\nsecond\n")
    small.git(repo, "rm", "-q", "--cached", "deleted.txt")
    (repo / "gone.txt").unlink()
    small.git(repo, "mv", "renamed.txt", "new name.txt")
    (repo / "script.sh").chmod(0o755)
    (repo / "intent.txt").write_text("intent\n")
    small.git(repo, "add", "-N", "intent.txt")
    _beside_git(repo, chance)
    return repo


def _beside_git(repo: Path, chance: random.Random) -> None:
    for name in chance.sample(ODD, 5):
        (repo / name).write_bytes(chance.randbytes(50))
    (repo / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"latin-1 name")
    (repo / "link").symlink_to("calc.py")
    (repo / "dangling").symlink_to("nowhere")
    (repo / "outside").symlink_to("/etc")
    (repo / "empty folder").mkdir()
    (repo / "ignored").mkdir()
    (repo / "ignored" / "big.bin").write_bytes(chance.randbytes(100_000))
    (repo / "x.log").write_text("log\n")
    (repo / "private.txt").write_text("0600\n")
    (repo / "private.txt").chmod(0o600)
    (repo / "readonly.txt").write_text("0444\n")
    (repo / "readonly.txt").chmod(0o444)
    (repo / ".env").write_text("SECRET=1\n")


@pytest.mark.slow
@pytest.mark.parametrize("n", range(RUNS))
def test_an_unsolved_run_changes_nothing(tmp_path: Path, n: int) -> None:
    chance = random.Random(n)
    repo = mess(tmp_path / "repo", chance)
    status = small.git(repo, "status", "--porcelain=v2", "-z")
    before = small.state(repo)
    times = {name: (repo / name).lstat().st_mtime_ns for name in before}
    replies = chance.sample(WRONG, 3)
    model = small.script(tmp_path / "s.jsonl", *replies)
    flags = {"generator": "model", "models.default": model, "budget.max_steps": 3}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    assert not outcome.solved
    assert small.state(repo) == before
    assert {name: (repo / name).lstat().st_mtime_ns for name in before} == times
    assert small.git(repo, "status", "--porcelain=v2", "-z") == status
