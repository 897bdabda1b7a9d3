"""Where a result goes, and what becomes of it when the user edits or commits while the run works."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.actions.publish import OpenPullRequest
from referee.config import load
from referee.domain.cost import Budget
from referee.domain.errors import Cancelled, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Progress, Published, PullRequest, Store
from referee.render.words import headline
from referee.testing import (
    FakeClock,
    FakeEquipment,
    FakeSandbox,
    FakeWorkspace,
    MemoryStore,
    PowerLoss,
    PowerLossStore,
    ended,
)

TASK = "add is wrong"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = small.build(tmp_path / "repo")
    small.git(root, "config", "user.name", "Ada")
    small.git(root, "config", "user.email", "ada@example.org")
    return root


def fix(repo: Path, land: str, progress: Progress | None = None) -> Outcome:
    model = small.script(repo.parent / "script.jsonl", small.proposal())
    flags = {"generator": "model", "models.default": model, "land": land}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), text=TASK, targets=(small.TARGET,)), config, progress)


def at_landing(act: Callable[[], object]) -> Progress:
    """A user who acts just before the result lands."""

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        if event == "landing":
            act()

    return tell


def test_a_commit_tells_what_was_wrong_and_who_judged_it(repo: Path) -> None:
    (repo / "notes.txt").write_text("mine\n")
    report = fix(repo, "commit").report
    assert report.landed is not None
    assert (report.landed.how, report.landed.revision) == ("commit", small.git(repo, "rev-parse", "HEAD").strip())
    message = small.git(repo, "log", "-1", "--format=%B")
    assert message.splitlines()[0] == TASK
    assert "What was wrong: the operator is wrong" in message
    assert "* calc.py" in message
    trailers = small.git(repo, "log", "-1", "--format=%(trailers:only,unfold)")
    assert f"Referee-Run: {report.run_id}\n" in trailers
    assert "L3 pytest" in trailers and "L5 pytest" in trailers
    assert "Referee-Judged-With: uncommitted changes in 1 other files" in trailers
    assert any("notes.txt" in note for note in report.notes)
    assert small.git(repo, "status", "--porcelain") == "?? notes.txt\n"
    assert "took commit" in api.rollback(report.run_id, str(repo)).said[0]
    assert (repo / "calc.py").read_text() == small.BUGGY


def test_an_edit_elsewhere_in_the_same_file_is_merged_judged_again_and_kept(repo: Path) -> None:
    """C3: the landing compares before it swaps, and what lands is what was judged."""
    edited = small.BUGGY + "\n# the user was here\n"
    outcome = fix(repo, "tree", at_landing(lambda: (repo / "calc.py").write_text(edited)))
    assert outcome.solved
    assert (repo / "calc.py").read_text() == small.FIXED + "\n# the user was here\n"
    assert any("merged with the repair and judged again" in note for note in outcome.report.notes)
    assert "the user was here" not in "".join(r for r in outcome.diff.splitlines() if r.startswith("+"))
    assert api.rollback(outcome.report.run_id, str(repo)).restored == ("calc.py",)
    assert (repo / "calc.py").read_text() == edited


def test_an_edit_of_the_same_lines_moves_the_base_and_keeps_the_proposal(repo: Path) -> None:
    edited = small.BUGGY.replace("a - b", "b - a")
    outcome = fix(repo, "tree", at_landing(lambda: (repo / "calc.py").write_text(edited)))
    assert outcome.stop_reason is StopReason.BASE_MOVED
    assert (repo / "calc.py").read_text() == edited
    patch = repo / ".harness/reports" / f"{outcome.report.run_id}.patch"
    assert f"git apply --reject {patch}" in outcome.report.notes[-1]
    (repo / "calc.py").write_text(small.BUGGY)
    small.git(repo, "apply", "--reject", str(patch))
    assert (repo / "calc.py").read_text() == small.FIXED


def test_a_commit_of_the_users_meanwhile_is_built_upon(repo: Path) -> None:
    def user() -> None:
        (repo / "other.py").write_text("Y = 1\n")
        small.git(repo, "add", "other.py")
        small.git(repo, "commit", "-q", "-m", "mine")

    outcome = fix(repo, "commit", at_landing(user))
    assert outcome.solved
    assert small.git(repo, "log", "--format=%s").splitlines() == [TASK, "mine", "start"]
    assert small.git(repo, "status", "--porcelain") == ""


def test_a_branch_is_made_and_the_files_stay(repo: Path) -> None:
    before = small.state(repo)
    report = fix(repo, "branch:fix/add").report
    assert report.landed is not None
    assert report.landed.how == "branch:fix/add"
    assert small.git(repo, "show", "fix/add:calc.py") == small.FIXED
    changed = {p for p in small.state(repo).keys() ^ before.keys() if not p.startswith(".git/")}
    assert not changed
    assert (repo / "calc.py").read_text() == small.BUGGY
    with pytest.raises(UsageError, match="already"):
        fix(repo, "branch:fix/add")
    assert "deleted the branch" in api.rollback(report.run_id, str(repo)).said[0]


def test_a_patch_never_overwrites_a_file(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "fix.patch"
    target.write_text("mine\n")
    with pytest.raises(UsageError, match="exists already"):
        fix(repo, f"patch:{target}")
    assert api.runs(str(repo)) == ()
    target.unlink()
    with pytest.raises(UsageError, match="appeared while the run worked"):
        fix(repo, f"patch:{target}", at_verdict(lambda: target.write_text("mine\n")))
    assert target.read_text() == "mine\n"
    monkeypatch.setattr(os, "link", _no_links)
    with pytest.raises(UsageError, match="appeared while the run worked"):
        api.resume(api.runs(str(repo))[0].run_id, str(repo))
    assert target.read_text() == "mine\n"
    target.unlink()
    assert api.resume(api.runs(str(repo))[0].run_id, str(repo)).solved
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("fix.patch.")]
    small.git(repo, "apply", str(target))
    assert (repo / "calc.py").read_text() == small.FIXED


def _no_links(*_: object, **__: object) -> None:
    """What some file systems say."""
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def at_verdict(act: Callable[[], object]) -> Progress:
    """A user who acts when a step was judged."""

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        if event == "verdict":
            act()

    return tell


@pytest.mark.parametrize("land", ["commit", "branch:fix"])
def test_what_cannot_be_is_refused_before_the_run(tmp_path: Path, land: str) -> None:
    root = small.build(tmp_path / "repo", commit=False)
    with pytest.raises(UsageError, match="no commit yet"):
        fix(root, land)
    assert api.runs(str(root)) == ()


def test_a_pull_request_is_opened_once_with_the_report_as_its_text(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.git(tmp_path, "init", "-q", "--bare", "bare.git")
    small.git(repo, "remote", "add", "origin", "https://github.com/shop/till.git")
    small.git(repo, "config", "remote.origin.pushurl", str(tmp_path / "bare.git"))
    small.git(repo, "push", "-q", "-u", "origin", "main")
    gh = tmp_path / "bin/gh"
    gh.parent.mkdir()
    gh.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat > {tmp_path}/body\necho https://forge.invalid/pull/7\n'
    )
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")  # a folder plays the remote
    before = (repo / "calc.py").read_text()
    (repo / "notes.txt").write_text("mine\n")
    report = fix(repo, "pr").report
    assert report.landed is not None
    assert (report.landed.how, report.landed.revision) == ("pr", "https://forge.invalid/pull/7")
    assert headline(report).endswith(", as pull request https://forge.invalid/pull/7")
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert f"--head=referee/{report.run_id} --base=main --title=add is wrong" in asked
    body = (tmp_path / "body").read_text()
    assert body.startswith("# Solved: add is wrong")
    assert str(tmp_path) not in body and "notes.txt" not in body, "nobody else's business"
    pushed = small.git(tmp_path / "bare.git", "show", f"referee/{report.run_id}:calc.py")
    assert (pushed, (repo / "calc.py").read_text()) == (small.FIXED, before)


def test_a_request_that_was_cut_off_is_unknown_and_never_repeated(tmp_path: Path) -> None:
    """Case C5, J5: the request is in the journal, its end is not."""
    workspace, store, clock = FakeWorkspace({}), MemoryStore(), FakeClock()
    store.create("r", "{}", "t")

    def opened(store: Store) -> Published:
        clock.advance(1_000)
        world = FakeEquipment(workspace, FakeSandbox(lambda _: ended(0)), {}, clock)
        journal = Journal(store, store.claim("r", "me", clock.now(), 30), clock)
        run = Run(Shared(run_id="r", world=world, journal=journal, store=store), Budget())
        return run.perform(OpenPullRequest(request=PullRequest(branch="referee/r", title="t", body=str(clock.now()))))

    with pytest.raises(PowerLoss):
        opened(PowerLossStore(store, at=2, after=False))  # type: ignore[arg-type]
    assert len(workspace.published) == 1, "the control: it did get through"
    again = opened(store)
    assert "unknown" in again.said
    assert again.commands == ("git push origin referee/r",)
    assert opened(store) == again
    assert len(workspace.published) == 1


def test_a_run_stopped_while_it_judges_again_goes_on_there(repo: Path) -> None:
    edited = small.BUGGY + "\n# the user was here\n"
    seen: list[str] = []

    def stop(event: str, facts: Mapping[str, Any]) -> None:
        seen.append(event)
        if event == "landing":
            (repo / "calc.py").write_text(edited)
        if event == "check" and "landing" in seen:
            raise Cancelled

    assert fix(repo, "tree", stop).stop_reason is StopReason.HUMAN_ABORT
    assert (repo / "calc.py").read_text() == edited
    resumed = api.resume(api.runs(str(repo))[0].run_id, str(repo))
    assert resumed.solved
    assert resumed.report.tokens == 150
    assert (repo / "calc.py").read_text() == small.FIXED + "\n# the user was here\n"
