"""Rolling back: per path, only what is still as landed, and every path is accounted for."""

from __future__ import annotations

import os
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.domain.errors import UsageError, WorldFault

CHANGES: dict[str, bytes | None] = {
    "src/a.py": b"landed a\n",
    "src/b.py": b"landed b\n",
    "run.sh": None,
    "deep/new.py": b"n\n",
    "deep/er/two.py": b"2\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "output/big.jsonl", b"made before\n")
    workspace = oracle.workspace(root)
    before = workspace.snapshot("run").tree
    assert len(workspace.land("run", before, workspace.apply(before, oracle.patch(CHANGES))).written) == 5
    workspace.close()
    return root


def again(root: Path) -> GitWorkspace:
    """Days later, in another process."""
    return oracle.workspace(root)


def test_only_what_was_landed_is_touched(root: Path) -> None:
    """Case A1: what a child process or the user made meanwhile stays."""
    oracle.write(root, "output/late.jsonl", b"made during\n")
    oracle.write(root, "deep/mine.py", b"mine\n")
    restoration = again(root).rollback("run")
    assert set(restoration.restored) == set(CHANGES)
    assert (root / "output/late.jsonl").read_bytes() == b"made during\n"
    assert (root / "deep/mine.py").read_bytes() == b"mine\n"
    assert not (root / "deep/er").exists()
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755


def test_three_states_are_told_apart(root: Path) -> None:
    """Cases A5 and A19: as landed, as before, somebody's; a link in place of a file is somebody's."""
    (root / "src/a.py").write_bytes(b"mine now\n")
    (root / "src/b.py").write_bytes(b"y = 2\n")
    (root / "deep/new.py").unlink()
    os.symlink("/etc/passwd", root / "deep/new.py")
    restoration = again(root).rollback("run")
    assert restoration.kept == ("deep/new.py", "src/a.py")
    assert restoration.unchanged == ("src/b.py",)
    assert restoration.restored == ("deep/er/two.py", "run.sh")
    assert restoration.failed == {}
    assert (root / "src/a.py").read_bytes() == b"mine now\n"
    assert os.readlink(root / "deep/new.py") == "/etc/passwd"


def test_it_can_be_repeated(root: Path) -> None:
    first, second = again(root).rollback("run"), again(root).rollback("run")
    assert set(first.restored) == set(second.unchanged) == set(CHANGES)
    assert second.restored == second.kept == ()


def test_a_failure_is_told_by_path_and_can_be_tried_again(root: Path) -> None:
    """Cases A18 and A23: a file made read-only, a folder made read-only; the record stays."""
    (root / "src/a.py").chmod(0o444)
    (root / "deep/er").chmod(0o555)
    restoration = again(root).rollback("run")
    assert set(restoration.failed) == {"src/a.py", "deep/er/two.py"}
    assert all("chmod u+w" in why for why in restoration.failed.values())
    assert set(restoration.restored) == {"src/b.py", "run.sh", "deep/new.py"}
    (root / "src/a.py").chmod(0o644)
    (root / "deep/er").chmod(0o755)
    assert set(again(root).rollback("run").restored) == {"src/a.py", "deep/er/two.py"}
    assert not (root / "deep").exists()


def test_a_folder_the_user_removed_is_made_again(root: Path) -> None:
    oracle.write(root, "only/one.py", b"1\n")
    workspace = again(root)
    before = workspace.snapshot("second").tree
    workspace.land("second", before, workspace.apply(before, oracle.patch({"only/one.py": None})))
    (root / "only").rmdir()
    assert workspace.rollback("second").restored == ("only/one.py",)
    assert (root / "only/one.py").read_bytes() == b"1\n"


def test_missing_records_are_errors_never_deletions(root: Path) -> None:
    """Case A11."""
    with pytest.raises(UsageError, match="nothing is kept of run other"):
        again(root).rollback("other")
    before = oracle.photograph(root)
    record = root / ".harness/snapshots/run/landing"
    whole = record.read_bytes()
    record.write_bytes(whole[:-20])
    with pytest.raises(WorldFault, match="damaged"):
        again(root).rollback("run")
    record.write_bytes(whole.replace(b"eCA9IDEK", b"eCA9IDIK"))
    restoration = again(root).rollback("run")
    assert restoration.failed == {"src/a.py": "cannot be put back: its saved content is damaged"}
    assert oracle.photograph(root)[b"src/a.py"] == before[b"src/a.py"]


def test_a_run_that_landed_nothing_has_nothing_to_undo(root: Path) -> None:
    workspace = again(root)
    before = workspace.snapshot("quiet").tree
    photograph = oracle.photograph(root)
    assert workspace.rollback("quiet").restored == ()
    (root / "src/a.py").write_bytes(b"edited\n")
    after = workspace.apply(before, oracle.patch({"src/a.py": b"other\n"}))
    assert workspace.land("quiet", before, after).conflicts == ("src/a.py",)
    assert workspace.rollback("quiet").restored == ()
    assert oracle.photograph(root).keys() == photograph.keys()


def test_it_can_be_done_by_hand(root: Path) -> None:
    """Case C4's promise: the record holds a patch that git takes."""
    oracle.git(root, "apply", ".harness/snapshots/run/undo.patch")
    assert set(again(root).rollback("run").unchanged) == set(CHANGES)


def test_it_outlives_the_users_gc(root: Path) -> None:
    oracle.git(root, "update-ref", "-d", "HEAD")
    oracle.git(root, "rm", "-rfq", "--cached", ".")
    oracle.git(root, "gc", "-q", "--prune=now")
    assert set(again(root).rollback("run").restored) == set(CHANGES)


def test_an_editor_that_never_rests_does_not_hang_it(root: Path) -> None:
    count = 0

    def user(step: str) -> None:
        nonlocal count
        if step == "intent durable":
            count += 1
            (root / "src/a.py").write_bytes(b"landed a\n" if count % 2 == 0 else b"edit\n")
            (root / "src/b.py").write_bytes(b"landed b\n" if count % 2 else b"edit\n")

    restoration = oracle.workspace(root, point=user).rollback("run")
    assert set(restoration.restored) | set(restoration.kept) | set(restoration.failed) == set(CHANGES)


def test_records_are_dropped_after_their_days(root: Path) -> None:
    workspace = again(root)
    assert workspace.collect() == ()
    old = (root / ".harness/snapshots/run").stat().st_mtime - 8 * 86_400
    os.utime(root / ".harness/snapshots/run", (old, old))
    fresh = workspace.snapshot("fresh")
    assert workspace.collect() == ("run",)
    with pytest.raises(UsageError, match="after 7 days"):
        workspace.rollback("run")
    assert workspace.paths(fresh.tree)
