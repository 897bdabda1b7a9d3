"""A rollback that meets somebody's changes shows both sides, and what to type works."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.ports import Restoration

OLD = b"".join(b"line %d\n" % n for n in range(1, 31))
LANDED = OLD.replace(b"line 3\n", b"landed 3\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "long.txt", OLD)
    oracle.write(root, "bin.dat", b"\0one")
    workspace = oracle.workspace(root)
    before = workspace.snapshot("run").tree
    changes = {"long.txt": LANDED, "bin.dat": b"\0two", "src/a.py": None, "new.py": b"n\n", "src/b.py": b"y = 3\n"}
    workspace.land("run", before, workspace.apply(before, oracle.patch(changes)))
    workspace.close()
    return root


def rolled_back(root: Path, *, merge: bool = False) -> Restoration:
    workspace: GitWorkspace = oracle.workspace(root)
    return workspace.rollback("run", merge=merge)


def test_both_sides_of_each_kept_file_are_shown(root: Path) -> None:
    (root / "long.txt").write_bytes(LANDED.replace(b"line 25\n", b"mine 25"))
    (root / "bin.dat").write_bytes(b"\0three")
    oracle.write(root, "src/a.py", b"mine\n")
    (root / "new.py").unlink()
    os.symlink("elsewhere", root / "new.py")
    done = rolled_back(root)
    assert done.restored == ("src/b.py",)
    clashes = {c.path: c for c in done.clashes}
    assert set(clashes) == set(done.kept) == {"long.txt", "bin.dat", "src/a.py", "new.py"}
    assert "-line 25\n" in clashes["long.txt"].since and "+mine 25" in clashes["long.txt"].since
    assert "landed 3" not in clashes["long.txt"].since
    assert "-landed 3\n+line 3\n" in clashes["long.txt"].undo
    assert clashes["bin.dat"].since == "as the run left it: 4 bytes; now: 6 bytes\n"
    assert "+mine\n" in clashes["src/a.py"].since and "+x = 1\n" in clashes["src/a.py"].undo
    assert clashes["new.py"].since.endswith("now: a symlink to elsewhere\n")


def test_the_command_that_is_offered_undoes_the_runs_part_only(root: Path) -> None:
    (root / "long.txt").write_bytes(LANDED.replace(b"line 25\n", b"mine 25\n"))
    done = rolled_back(root)
    oracle.git(root, *shlex.split(f"apply --reject --include=long.txt {shlex.quote(done.patch)}"))
    assert (root / "long.txt").read_bytes() == OLD.replace(b"line 25\n", b"mine 25\n")


def test_a_long_difference_is_cut_and_counted(root: Path) -> None:
    (root / "long.txt").write_bytes(b"mine\n" * 1000)
    [clash] = rolled_back(root).clashes
    assert clash.since.count("\n") == 201
    assert clash.since.endswith("more lines\n")


def test_names_that_are_no_utf8_can_be_recorded(root: Path) -> None:
    name = b"latin\xe9.py"
    oracle.write(root, name, b"1\n")
    workspace = oracle.workspace(root)
    before = workspace.snapshot("odd").tree
    path = os.fsdecode(name)
    landing = workspace.land("odd", before, workspace.apply(before, oracle.patch({path: b"2\n"})))
    assert landing.written == (path,)
    assert r"latin\\xe9.py" in landing.model_dump_json()
    oracle.write(root, name, b"3\n")
    assert r"latin\\xe9.py" in workspace.rollback("odd").model_dump_json()


def test_with_merge_other_lines_of_somebody_stay(root: Path) -> None:
    (root / "long.txt").write_bytes(LANDED.replace(b"line 25\n", b"mine 25\n"))
    (root / "long.txt").chmod(0o600)
    (root / "src/b.py").write_bytes(b"y = 4\n")
    first = rolled_back(root)
    assert {c.path: c.merges for c in first.clashes} == {"long.txt": True, "src/b.py": False}
    done = rolled_back(root, merge=True)
    assert (done.merged, done.kept) == (("long.txt",), ("src/b.py",))
    assert (root / "long.txt").read_bytes() == OLD.replace(b"line 25\n", b"mine 25\n")
    assert (root / "long.txt").stat().st_mode & 0o777 == 0o600
    assert (root / "src/b.py").read_bytes() == b"y = 4\n"
    again = rolled_back(root, merge=True)
    assert again.merged == () and "long.txt" in again.unchanged
