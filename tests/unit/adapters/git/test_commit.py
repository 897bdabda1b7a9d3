"""Landing as a commit: exactly the change, nothing else that is staged, dirty or hooked; and all of it or nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.adapters.git.git import Git
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Commit

MESSAGE = "Mend it\n\nWhat was wrong: caf\u00e9\n\nReferee-Run: run\n"
BASE = b"".join(b"line %d\n" % n for n in range(20))
FIXED = BASE.replace(b"line 10\n", b"line ten\n")
MINE = BASE.replace(b"line 1\n", b"line one\n")
MINE_STAGED = MINE.replace(b"line 18\n", b"line eighteen\n")
BOTH = MINE_STAGED.replace(b"line 10\n", b"line ten\n")


def known(root: Path) -> Path:
    """A repository whose user has a name."""
    oracle.git(root, "config", "user.name", "Ada")
    oracle.git(root, "config", "user.email", "ada@example.org")
    return root


def committed(
    root: Path, changes: dict[str, bytes | None], branch: str = ""
) -> tuple[GitWorkspace, tuple[str, str, Commit]]:
    """A workspace and what a landing is asked for."""
    workspace = oracle.workspace(root)
    snapshot = workspace.snapshot("run")
    after = workspace.apply(snapshot.tree, oracle.patch(changes))
    return workspace, (snapshot.tree, after, Commit(parent=snapshot.head, message=MESSAGE, branch=branch))


def text(root: Path, *args: str) -> str:
    return oracle.git(root, *args).decode("utf-8", "surrogateescape").strip()


def others(root: Path, *touched: str) -> tuple[list[str], dict[bytes, tuple[object, ...]]]:
    """What is staged and what is on disk, but for the paths touched."""
    staged = [s for s in text(root, "ls-files", "-s", "-v", "-z").split("\0") if not s.endswith(touched)]
    files = oracle.photograph(root)
    return staged, {p: f for p, f in files.items() if p.decode("utf-8", "surrogateescape") not in touched}


def test_a_commit_holds_exactly_the_change_and_leaves_what_is_staged(tmp_path: Path) -> None:
    root = known(oracle.messy(tmp_path / "r"))
    head, branch = text(root, "rev-parse", "HEAD"), text(root, "symbolic-ref", "HEAD")
    touched = ("src/m1.py", "src/m3.py", "src/new.py")
    before, stash = others(root, *touched), text(root, "stash", "list")
    workspace, asked = committed(root, {"src/m1.py": b"new 1\n", "src/m3.py": None, "src/new.py": b"n\n"})
    landing = workspace.commit("run", *asked)
    assert (landing.how, landing.written) == ("commit", touched)
    assert landing.revision == text(root, "rev-parse", "HEAD")
    assert text(root, "symbolic-ref", "HEAD") == branch
    assert text(root, "rev-parse", "HEAD^") == head
    assert text(root, "diff", "--name-status", "HEAD^", "HEAD") == "M\tsrc/m1.py\nD\tsrc/m3.py\nA\tsrc/new.py"
    assert others(root, *touched) == before
    assert text(root, "stash", "list") == stash
    assert (root / "src/m1.py").read_bytes() == b"new 1\n"
    assert not any(path in oracle.status(root).decode("latin-1") for path in touched)
    assert text(root, "log", "-1", "--format=%an <%ae> %cn%n%B") == "Ada <ada@example.org> Ada\n" + MESSAGE.strip()
    assert text(root, "log", "-1", "--format=%(trailers:key=Referee-Run,valueonly)") == "run"
    assert text(root, "reflog", "-1", "--format=%gs") == "referee: run run"
    assert workspace.landed("run") == landing
    assert workspace.commit("run", *asked) == landing
    oracle.git(root, "fsck", "--strict")


def test_only_the_change_is_committed_of_a_file_that_is_staged_and_dirty_elsewhere(tmp_path: Path) -> None:
    """As if with git add -p: their staged hunk stays staged, their other hunk stays uncommitted."""
    root = known(oracle.small(tmp_path / "r"))
    oracle.write(root, "src/a.py", BASE)
    oracle.git(root, "commit", "-qam", "long")
    oracle.write(root, "src/a.py", MINE)
    oracle.git(root, "add", "src/a.py")
    oracle.write(root, "src/a.py", MINE_STAGED)
    workspace, asked = committed(root, {"src/a.py": BOTH})
    staged, dirty = oracle.git(root, "diff", "--cached", "-U0"), oracle.git(root, "diff", "-U0")
    workspace.commit("run", *asked)
    assert oracle.git(root, "show", "HEAD:src/a.py") == FIXED
    assert oracle.git(root, "show", ":src/a.py") == MINE.replace(b"line 10\n", b"line ten\n")
    assert (root / "src/a.py").read_bytes() == BOTH
    body = b"@@"
    assert oracle.git(root, "diff", "--cached", "-U0").partition(body)[2] == staged.partition(body)[2]
    assert oracle.git(root, "diff", "-U0").partition(body)[2] == dirty.partition(body)[2]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        ("dirty", "uncommitted changes next to the repair"),
        ("staged", "staged changes next to the repair"),
        ("unstaged deletion", "staged changes next to the repair"),
        ("untracked", "is not committed yet"),
        ("filtered", "goes through the filter up"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_in_words_and_nothing_changes(
    tmp_path: Path, spoil: str, words: str
) -> None:
    root = known(oracle.small(tmp_path / "r"))
    changes: dict[str, bytes | None] = {"src/a.py": b"x = 2\n"}
    if spoil == "dirty":
        oracle.write(root, "src/a.py", b"x = 10\n")
    elif spoil == "staged":
        oracle.write(root, "src/a.py", b"x = 10\n")
        oracle.git(root, "add", "src/a.py")
        oracle.write(root, "src/a.py", b"x = 1\n")
    elif spoil == "unstaged deletion":
        oracle.git(root, "rm", "-q", "--cached", "src/a.py")
    elif spoil == "untracked":
        oracle.write(root, "src/mine.py", b"m\n")
        changes["src/mine.py"] = b"n\n"
    else:
        oracle.git(root, "config", "filter.up.clean", f"touch {tmp_path}/ran; cat")
        oracle.write(root, ".gitattributes", b"*.py filter=up\n")
    workspace, asked = committed(root, changes)
    before = (others(root), text(root, "rev-parse", "HEAD"))
    with pytest.raises(UsageError, match=words):
        workspace.commit("run", *asked)
    assert (others(root), text(root, "rev-parse", "HEAD")) == before
    assert not (tmp_path / "ran").exists()
    assert workspace.landed("run") is None


def test_line_endings_are_committed_as_git_add_would(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    oracle.write(root, ".gitattributes", b"*.txt text eol=crlf\n")
    oracle.write(root, "a.txt", BASE.replace(b"\n", b"\r\n"))
    oracle.git(root, "add", "-A")
    oracle.git(root, "commit", "-qm", "text")
    assert oracle.git(root, "show", "HEAD:a.txt") == BASE
    workspace, asked = committed(root, {"a.txt": FIXED.replace(b"\n", b"\r\n")})
    workspace.commit("run", *asked)
    assert oracle.git(root, "show", "HEAD:a.txt") == FIXED
    assert (root / "a.txt").read_bytes() == FIXED.replace(b"\n", b"\r\n")
    assert text(root, "status", "--porcelain") == ""


def test_flags_and_modes_stay(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    oracle.git(root, "update-index", "--assume-unchanged", "src/a.py")
    oracle.git(root, "update-index", "--skip-worktree", "src/b.py")
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n", "src/b.py": b"y = 3\n"})
    workspace.commit("run", *asked)
    assert text(root, "ls-files", "-v", "src") == "h src/a.py\nS src/b.py"
    assert text(root, "ls-tree", "HEAD", "run.sh").startswith("100755")


@pytest.mark.parametrize("how", ["commit", "branch"])
def test_no_hook_runs_and_no_key_signs(tmp_path: Path, how: str) -> None:
    root, marker = known(oracle.small(tmp_path / "r")), tmp_path / "ran"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        oracle.write(root / ".git/hooks", name, b"#!/bin/sh\ntouch %s\nexit 1\n" % os.fsencode(marker), 0o755)
    oracle.write(root, "../gpg", b"#!/bin/sh\ntouch %s\n" % os.fsencode(marker), 0o755)
    oracle.git(root, "config", "gpg.program", str(tmp_path / "gpg"))
    oracle.git(root, "config", "commit.gpgsign", "true")
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"}, branch="fix" if how == "branch" else "")
    told = workspace.check_place("branch:fix" if how == "branch" else "commit")
    assert "pre-commit, commit-msg, post-commit" in told[0]
    assert "git commit --amend --no-edit -S" in told[1]
    assert workspace.commit("run", *asked).revision
    assert not marker.exists()


def test_a_branch_touches_neither_head_nor_index_nor_files(tmp_path: Path) -> None:
    root = known(oracle.messy(tmp_path / "r"))
    (root / ".git/index").chmod(0o600)
    workspace, asked = committed(root, {"src/m1.py": b"new 1\n"}, branch="fix/it")
    before = (oracle.photograph(root), oracle.status(root), (root / ".git/index").read_bytes())
    head = (root / ".git/HEAD").read_bytes(), text(root, "rev-parse", "HEAD")
    landing = workspace.commit("run", *asked)
    assert (landing.how, landing.written) == ("branch:fix/it", ())
    assert (oracle.photograph(root), oracle.status(root), (root / ".git/index").read_bytes()) == before
    assert ((root / ".git/HEAD").read_bytes(), text(root, "rev-parse", "HEAD")) == head
    assert text(root, "diff", "--name-only", "HEAD", "fix/it") == "src/m1.py"
    assert text(root, "rev-parse", "fix/it") == landing.revision
    assert workspace.landed("run") == landing


def test_what_moved_meanwhile_is_a_conflict_and_nothing_is_written(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    oracle.git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    before = (others(root), text(root, "rev-parse", "HEAD"))
    assert workspace.commit("run", *asked).conflicts == ("HEAD",)
    oracle.git(root, "branch", "fix")
    beside = Commit(parent=asked[2].parent, message="m\n", branch="fix")
    assert workspace.commit("run", asked[0], asked[1], beside).conflicts == ("refs/heads/fix",)
    assert (others(root), text(root, "rev-parse", "HEAD")) == before
    oracle.write(root, "src/a.py", b"mine\n")
    workspace, asked = committed(root, {"src/b.py": b"y = 3\n"})
    oracle.write(root, "src/b.py", b"mine too\n")
    assert workspace.commit("run", *asked).conflicts == ("src/b.py",)
    assert text(root, "rev-parse", "HEAD") == before[1]


def test_a_branch_that_moves_at_the_last_moment_puts_the_files_back(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))

    def user(point: str) -> None:
        if point == "index prepared":
            commit = text(root, "commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}")
            oracle.git(root, "update-ref", "HEAD", commit)

    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    before = others(root)
    oracle.close_all()
    workspace = oracle.workspace(root, point=user)
    assert workspace.commit("run", *asked).conflicts == ("HEAD",)
    staged, files = others(root)
    assert staged == before[0]
    assert {p: f[:-1] for p, f in files.items()} == {p: f[:-1] for p, f in before[1].items()}
    assert text(root, "log", "-1", "--format=%s") == "mine"
    assert not (root / ".git/index.lock").exists()


@pytest.mark.parametrize(
    ("place", "spoil", "words"),
    [
        ("commit", "unborn", "there is no commit yet"),
        ("branch:fix", "unborn", "there is no commit yet"),
        ("commit", "detached", "git switch -c NAME"),
        ("commit", "nobody", "git config user.name"),
        ("branch:main", "", "already"),
        ("branch:main/sub", "", "branch main already"),
        ("branch:a..b", "", "no name for a branch"),
        ("branch:x.lock", "", "no name for a branch"),
    ],
)
def test_what_is_impossible_is_said_before_any_work(tmp_path: Path, place: str, spoil: str, words: str) -> None:
    root = tmp_path / "r"
    if spoil == "unborn":
        root.mkdir()
        oracle.git(root, "init", "-q")
    else:
        oracle.small(root)
    if spoil != "nobody":
        known(root)
    oracle.git(root, "branch", "-M", "main")
    if spoil == "detached":
        oracle.git(root, "checkout", "-q", "--detach")
    nobody = Git(environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    with pytest.raises(UsageError, match=words):
        oracle.workspace(root, git=nobody).check_place(place)
    assert oracle.workspace(root).check_place("tree") == ()


def test_detached_a_branch_can_be_made(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    oracle.git(root, "checkout", "-q", "--detach")
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"}, branch="fix")
    assert workspace.check_place("branch:fix") == ()
    assert workspace.commit("run", *asked).revision == text(root, "rev-parse", "fix")


def test_rolling_back_a_commit_restores_branch_index_and_files(tmp_path: Path) -> None:
    root = known(oracle.messy(tmp_path / "r"))
    workspace, asked = committed(root, {"src/m1.py": b"new 1\n", "src/m3.py": None, "deep/new.py": b"n\n"})
    head, status, before = text(root, "rev-parse", "HEAD"), oracle.status(root), oracle.photograph(root, times=False)
    workspace.commit("run", *asked)
    done = workspace.rollback("run")
    assert set(done.restored) == {"src/m1.py", "src/m3.py", "deep/new.py"}
    assert "took commit" in done.said[0]
    assert (text(root, "rev-parse", "HEAD"), oracle.status(root)) == (head, status)
    assert oracle.photograph(root, times=False) == before
    assert workspace.landed("run") is None
    assert workspace.rollback("run").restored == ()


@pytest.mark.parametrize("spoil", ["commit on top", "pushed", "other branch"])
def test_history_that_others_build_on_is_not_rewritten(tmp_path: Path, spoil: str) -> None:
    root = known(oracle.small(tmp_path / "r"))
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    revision = workspace.commit("run", *asked).revision or ""
    if spoil == "commit on top":
        oracle.git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    elif spoil == "pushed":
        oracle.git(root, "update-ref", "refs/remotes/origin/main", revision)
    else:
        oracle.git(root, "switch", "-q", "-c", "other", "HEAD^")
    before = (others(root), text(root, "for-each-ref"))
    with pytest.raises(UsageError, match=f"git revert {revision[:12]}"):
        workspace.rollback("run")
    assert (others(root), text(root, "for-each-ref")) == before


def test_rolling_back_a_branch_deletes_only_what_is_still_ours(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"}, branch="fix")
    workspace.commit("run", *asked)
    oracle.git(root, "switch", "-q", "fix")
    with pytest.raises(UsageError, match="checked out"):
        workspace.rollback("run")
    oracle.git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    oracle.git(root, "switch", "-q", "-")
    with pytest.raises(UsageError, match="git branch -D fix"):
        workspace.rollback("run")
    oracle.git(root, "branch", "-f", "fix", "fix^")
    assert workspace.rollback("run").said[0].startswith("deleted the branch fix")
    assert "fix" not in text(root, "branch")


def test_a_linked_worktree_commits_on_its_own_branch(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    linked = tmp_path / "linked"
    oracle.git(root, "worktree", "add", "-q", "-b", "side", str(linked))
    main = text(root, "rev-parse", "HEAD")
    workspace, asked = committed(linked, {"src/a.py": b"x = 2\n"})
    landing = workspace.commit("run", *asked)
    assert text(linked, "rev-parse", "side") == landing.revision
    assert (text(root, "rev-parse", "HEAD"), text(linked, "status", "--porcelain")) == (main, "")
    assert set(workspace.rollback("run").restored) == {"src/a.py"}
    assert text(linked, "rev-parse", "side") == main


class Killed(BaseException):
    """What ends a process here."""


def killed_at(root: Path, moment: str) -> GitWorkspace:
    """A workspace that dies when a commit comes to that point."""

    def kill(point: str) -> None:
        if point == moment:
            raise Killed

    oracle.close_all()
    return oracle.workspace(root, point=kill)


@pytest.mark.parametrize("since", ["commit on top", "staged"])
def test_a_commit_that_was_made_before_the_kill_stands_whatever_came_since(tmp_path: Path, since: str) -> None:
    root = known(oracle.small(tmp_path / "r"))
    _, asked = committed(root, {"src/a.py": b"x = 2\n"})
    with pytest.raises(Killed):
        killed_at(root, "branch moved").commit("run", *asked)
    made = text(root, "rev-parse", "HEAD")
    if since == "staged":
        oracle.write(root, "src/a.py", b"x = 3\n")
        oracle.git(root, "add", "src/a.py")
    else:
        oracle.git(root, "update-ref", "HEAD", text(root, "commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}"))
    workspace = oracle.workspace(root)
    assert len(workspace.recover()) == 1
    landing = workspace.landed("run")
    assert landing is not None and landing.revision == made
    assert (root / "src/a.py").read_bytes() == (b"x = 3\n" if since == "staged" else b"x = 2\n")
    assert text(root, "status", "--porcelain") == ("M  src/a.py" if since == "staged" else "")


def test_a_branch_that_was_made_before_the_kill_stands_with_a_commit_on_top(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    _, asked = committed(root, {"src/a.py": b"x = 2\n"}, branch="fix")
    with pytest.raises(Killed):
        killed_at(root, "branch made").commit("run", *asked)
    made = text(root, "rev-parse", "fix")
    oracle.git(root, "update-ref", "refs/heads/fix", text(root, "commit-tree", "-p", "fix", "-m", "mine", "fix^{tree}"))
    landing = oracle.workspace(root).landed("run")
    assert landing is not None and landing.revision == made


def test_taking_back_goes_on_after_a_kill_though_somebody_committed_meanwhile(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    workspace.commit("run", *asked)
    with pytest.raises(Killed):
        killed_at(root, "branch moved back").rollback("run")
    oracle.git(root, "update-ref", "HEAD", text(root, "commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}"))
    workspace = oracle.workspace(root)
    workspace.recover()
    assert workspace.landed("run") is None
    assert (root / "src/a.py").read_bytes() == b"x = 1\n"
    assert (text(root, "status", "--porcelain"), text(root, "log", "-1", "--format=%s")) == ("", "mine")


def test_what_a_kill_left_of_an_index_is_in_nobodys_way(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    for name in ("referee.tree", "referee.tree.lock"):
        (root / ".git" / name).write_bytes(b"torn")
    assert workspace.commit("run", *asked).revision == text(root, "rev-parse", "HEAD")


@pytest.mark.parametrize("moment", ["index held", "index prepared"])
def test_a_disk_that_fills_up_in_between_puts_the_files_back(tmp_path: Path, moment: str) -> None:
    root = known(oracle.small(tmp_path / "r"))

    def full(point: str) -> None:
        if point == moment:
            raise OSError(errno.ENOSPC, "No space left on device")

    workspace, asked = committed(root, {"src/a.py": b"x = 2\n"})
    before = (text(root, "ls-files", "-s"), text(root, "for-each-ref"), oracle.photograph(root, times=False))
    oracle.close_all()
    with pytest.raises(WorldFault, match="disk is full"):
        oracle.workspace(root, point=full).commit("run", *asked)
    assert (text(root, "ls-files", "-s"), text(root, "for-each-ref"), oracle.photograph(root, times=False)) == before
    assert not (root / ".git/index.lock").exists()
    workspace = oracle.workspace(root)
    assert workspace.recover() == ()
    assert workspace.commit("run", *asked).revision == text(root, "rev-parse", "HEAD")


def test_a_file_that_may_not_be_written_refuses_the_commit(tmp_path: Path) -> None:
    root = known(oracle.small(tmp_path / "r"))
    (root / "src/b.py").chmod(0o444)
    workspace, asked = committed(root, {"src/a.py": b"x = 2\n", "src/b.py": b"y = 3\n"})
    head = text(root, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match="read-only"):
        workspace.commit("run", *asked)
    assert workspace.recover() == ()
    assert (text(root, "rev-parse", "HEAD"), (root / "src/a.py").read_bytes()) == (head, b"x = 1\n")


def test_names_of_all_kinds_and_the_other_hash(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    oracle.git(root, "init", "-q", "--object-format=sha256")
    names = [os.fsdecode(name) for name in oracle.ODD_NAMES]
    for name in oracle.ODD_NAMES:
        oracle.write(root, name, b"old\n")
    oracle.git(known(root), "add", "-A")
    oracle.git(root, "commit", "-qm", "one")
    workspace, asked = committed(root, dict.fromkeys(names[:3], b"new\n") | dict.fromkeys(names[3:]))
    assert set(workspace.commit("run", *asked).written) == set(names)
    assert text(root, "status", "--porcelain") == ""
    assert text(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").count("\0") == 3
    assert set(workspace.rollback("run").restored) == set(names)
    assert text(root, "status", "--porcelain") == ""
