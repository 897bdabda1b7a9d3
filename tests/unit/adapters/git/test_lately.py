"""The lines that the last commits and the uncommitted work changed, in the numbering of the tree at hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from referee.adapters.git import GitWorkspace

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
TEN = "".join(f"x{n} = {n}\n" for n in range(10))


def commit(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    for args in (("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "c")):
        subprocess.run([*GIT, *args], cwd=root, check=True, env=ENV, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    place.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True, env=ENV)
    commit(place, old=TEN, new=TEN)
    return place


def test_lines_of_the_last_commits_and_of_uncommitted_work_are_found(root: Path) -> None:
    commit(root, old=TEN.replace("x3 = 3", "x3 = -3"))
    commit(root, old="import os\n" + TEN.replace("x3 = 3", "x3 = -3"))
    (root / "new.py").write_text(TEN + "++ b/old.py\n@@ -1 +1 @@\n")
    workspace = GitWorkspace(str(root))
    tree = workspace.snapshot("run").tree
    assert workspace.recent(tree, 2) == {"old.py": (1, 5), "new.py": (11, 12)}
    assert workspace.recent(tree, 1) == {"old.py": (1,), "new.py": (11, 12)}
    assert workspace.recent(tree, 3) == {}, "there are only three commits, so none before them"


def test_a_file_that_is_new_or_rewritten_says_nothing(root: Path) -> None:
    commit(root, big="".join(f"y{n} = {n}\n" for n in range(300)))
    workspace = GitWorkspace(str(root))
    assert workspace.recent(workspace.snapshot("run").tree, 1) == {}


def test_a_folder_with_a_blank_and_an_umlaut_does_no_harm(root: Path) -> None:
    (root / "ä b").mkdir()
    (root / "ä b" / "c d.py").write_text("a = 1\n")
    commit(root, old=TEN.replace("x9 = 9", "x9 = 0"))
    workspace = GitWorkspace(str(root))
    assert workspace.recent(workspace.snapshot("run").tree, 1)["old.py"] == (10,)
