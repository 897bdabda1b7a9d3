"""`--land` from outside: what is refused, what reaches standard output, and how a run goes on after a refusal."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import small

from referee import api
from referee.cli import main

Said = tuple[int, str, str]
Fix = Callable[..., Said]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = small.build(tmp_path / "repo")
    small.git(root, "config", "user.name", "Ada")
    small.git(root, "config", "user.email", "ada@example.org")
    return root


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fix:
    """Run referee in this process, with an empty home: exit code, standard output, standard error."""
    for name in [n for n in os.environ if n.startswith(("REFEREE_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*arguments: str) -> Said:
        return (main(arguments), *capfd.readouterr())

    return run


@pytest.fixture
def fix(call: Fix, repo: Path) -> Fix:
    """`referee fix --land …` with a scripted model that mends the bug."""
    model = small.script(repo.parent / "script.jsonl", small.proposal())

    def run(land: str, *more: str) -> Said:
        chosen = ("--repo", str(repo), "--target", small.TARGET, "--generator", "model", "--model", model, "-q")
        return call("fix", "add is wrong", *chosen, "--land", land, *more)

    return run


@pytest.mark.parametrize(
    ("land", "words"),
    [
        ("branch:main", "there is a branch main already; give --land branch:NAME another name"),
        ("branch:a..b", "use tree, commit, branch:NAME"),
        ("pr", "git remote add origin URL, or use --land branch:NAME"),
        ("patch:calc.py", "exists already and is not overwritten"),
        ("patch:no/where.patch", "give --land patch:FILE another place"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_type_instead(
    fix: Fix, repo: Path, monkeypatch: pytest.MonkeyPatch, land: str, words: str
) -> None:
    monkeypatch.chdir(repo)
    code, out, err = fix(land)
    assert (code, out) == (2, "")
    assert words in err
    assert api.runs(str(repo)) == ()


def test_a_commit_without_a_name_is_refused_with_both_commands(fix: Fix, repo: Path) -> None:
    small.git(repo, "config", "--unset", "user.name")
    code, _, err = fix("commit")
    assert code == 2
    assert 'git config user.name "Your Name"' in err and "git config user.email" in err


def test_a_patch_on_standard_output_is_alone_there_and_exact(fix: Fix, repo: Path) -> None:
    code, out, _ = fix("patch:-")
    assert (code, (repo / "calc.py").read_text()) == (0, small.BUGGY)
    assert out.startswith("diff --git ")
    subprocess.run(["git", "apply"], cwd=repo, input=out.encode(), check=True)
    assert (repo / "calc.py").read_text() == small.FIXED
    assert json.loads(fix("patch:-", "--json")[1])["stop_reason"] == "not_reproduced"
    assert fix("patch:-")[1] == ""


def test_what_is_in_the_way_of_a_commit_is_mended_and_the_run_goes_on(fix: Fix, call: Fix, repo: Path) -> None:
    """The repair cannot be told apart from an uncommitted edit of the same line; nothing is judged in vain."""
    mine = small.BUGGY.replace("return a - b", "return a - b  # mine")
    (repo / "calc.py").write_text(mine)
    code, _, err = fix("commit")
    assert code == 2
    assert "calc.py has uncommitted changes next to the repair" in err and "referee resume" in err
    assert (repo / "calc.py").read_text() == mine
    small.git(repo, "commit", "-qam", "mine")
    code, out, err = call("resume", api.runs(str(repo))[0].run_id, "--repo", str(repo), "--json")
    assert code == 0, err
    assert json.loads(out)["landed"]["how"] == "commit"
    assert small.git(repo, "log", "--format=%s").splitlines() == ["add is wrong", "mine", "start"]
    assert "return a + b  # mine" in (repo / "calc.py").read_text()
