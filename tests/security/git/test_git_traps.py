"""No program that a repository or the environment names is ever run; plain git runs each of them (cases D2, D3)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from git_traps import TRAPS, Scene, Trap, scene

from referee.adapters.git import GitWorkspace
from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import FileContent, patch_of
from referee.ports import Commit


def everything(repo: Scene) -> None:
    """All that referee does with git."""
    workspace = GitWorkspace(str(repo.root / "src"))
    try:
        before = workspace.snapshot("run").tree
        after = workspace.apply(before, patch_of({"src/a.py": FileContent(data=b"x = 9\n"), "src/b.py": None}))
        workspace.base(after, lambda _: False)
        assert b"+x = 9" in workspace.diff(before, after)
        assert workspace.land("run", before, after).written == ("src/a.py", "src/b.py")
        assert workspace.landed("run") is not None
        assert workspace.rollback("run").restored == ("src/a.py", "src/b.py")
        commits(workspace)
        workspace.recover()
        workspace.collect(0)
    finally:
        workspace.close()


def commits(workspace: GitWorkspace) -> None:
    """The same as a commit and as a branch, and a merge with what the user wrote meanwhile."""
    mine = patch_of({"notes.txt": FileContent(data=b"ONE\ntwo\nthree\nfour\n")})
    mended = patch_of({"notes.txt": FileContent(data=b"one\ntwo\nthree\nFOUR\n")})
    for branch in ("", "made"):
        run_id = f"commit-{branch}"
        start = workspace.snapshot(run_id)
        after = workspace.apply(start.tree, mended)
        assert workspace.merge(start.tree, after, workspace.apply(start.tree, mine)).tree
        commit = Commit(parent=start.head, message="mend\n", branch=branch)
        assert workspace.commit(run_id, start.tree, after, commit).revision
        workspace.rollback(run_id)
    start = workspace.snapshot("filtered")
    after = workspace.apply(start.tree, patch_of({"src/a.py": FileContent(data=b"x = 7\n")}))
    with suppress(UsageError, WorldFault):  # a filter, the user's own changes or a missing object is in the way
        workspace.commit("filtered", start.tree, after, Commit(parent=start.head, message="mend\n"))


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
def test_it_is_not_sprung_by_referee_and_is_by_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: Trap) -> None:
    repo = scene(tmp_path)
    trap.plant(repo)
    repo.mark.unlink(missing_ok=True)
    for name, value in trap.environment(repo).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.root)
    everything(repo)
    assert not repo.sprung
    trap.spring(repo)
    assert repo.sprung, "the control shows that the trap works"


def test_files_elsewhere_are_not_taken_for_the_repository(tmp_path: Path) -> None:
    """A configuration can say that the work tree is the user's home, or the folder above."""
    for place in (tmp_path / "home", tmp_path):
        repo = scene(tmp_path / f"at-{place.name}")
        repo.set(core__worktree=str(place))
        place.mkdir(exist_ok=True)
        with pytest.raises(UsageError, match=r"core\.worktree"):
            GitWorkspace(str(repo.root))
        assert not (place / ".harness").exists()


def test_hooks_of_a_template_do_not_get_into_the_private_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = scene(tmp_path)
    template = tmp_path / "template/hooks"
    template.mkdir(parents=True)
    (template / "post-index-change").symlink_to(repo.program)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template.parent))
    everything(repo)
    assert not repo.sprung
    assert not list(repo.root.glob(".harness/git/hooks/*"))
    repo.git("init", "-q", str(tmp_path / "new"), GIT_TEMPLATE_DIR=str(template.parent))
    assert (tmp_path / "new/.git/hooks/post-index-change").exists()
