"""An agent of the user's as the player (E4): inside the sandbox, under the same rules and the same judge."""

from __future__ import annotations

import venv
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.errors import UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task

FIX = "sed -i 's/a - b/a + b/' calc.py\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small.build(tmp_path / "repo")


def fix(repo: Path, command: str, **flags: Any) -> Outcome:
    config = load(str(repo), flags={"generator": f"command:{command}", **flags}, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), text="add is wrong", targets=(small.TARGET,)), config)


def play(repo: Path, script: str, arguments: str = "", **flags: Any) -> Outcome:
    """Let a shell script be the agent; it lies outside the repository, as an installed one does."""
    program = repo.parent / "agent.sh"
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    return fix(repo, f"{program} {arguments}", **flags)


def test_its_diff_is_the_proposal(repo: Path) -> None:
    outcome = play(repo, FIX + "echo done > notes.txt\n")
    assert outcome.solved
    assert (repo / "calc.py").read_text() == small.FIXED
    assert outcome.report.generator == "command"
    assert outcome.report.touched_files == ("calc.py", "notes.txt")
    assert outcome.report.iterations[0].author == "command agent.sh"
    assert any("not counted" in note for note in outcome.report.notes)


def test_what_is_not_its_own_is_undone_counted_and_the_rest_judged(repo: Path) -> None:
    tests = (repo / "tests/test_calc.py").read_bytes()
    outcome = play(
        repo,
        FIX
        + "echo 'def test_add(): pass' > tests/test_calc.py\n"
        + "echo '[pytest]' > pytest.ini\necho 'import os' > conftest.py\n"
        + "git commit -qam 'mine' || true\necho x > .git/hooks/pre-commit\n",
    )
    assert outcome.solved
    assert outcome.report.touched_files == ("calc.py",)
    assert outcome.report.unauthorised == 3
    assert (repo / "tests/test_calc.py").read_bytes() == tests
    assert not (repo / "conftest.py").exists()
    assert small.git(repo, "log", "--format=%s") == "start\n"
    assert not (repo / ".git/hooks/pre-commit").exists()


def test_who_only_bends_the_tests_gets_nowhere(repo: Path) -> None:
    before = small.state(repo)
    outcome = play(repo, "echo 'def test_add(): pass' > tests/test_calc.py\n")
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert outcome.report.unauthorised == 2
    assert small.state(repo) == before


@pytest.mark.parametrize(
    ("arguments", "reading"), [("", "cat"), ("{prompt_file}", 'cat "$1"'), ("-m {prompt}", 'echo "$2"')]
)
def test_what_the_checks_said_is_in_its_next_prompt(repo: Path, arguments: str, reading: str) -> None:
    """And it goes on from its own last change, which it finds in the files."""
    outcome = play(
        repo,
        f'prompt=$({reading})\ncase "$prompt" in\n'
        "*'Tried before'*'calc.py'*) grep -q 'a \\* b' calc.py && sed -i 's/a \\* b/a + b/' calc.py ;;\n"
        "*'tests/test_calc.py::test_add'*) sed -i 's/a - b/a * b/' calc.py ;;\nesac\n",
        arguments,
    )
    assert outcome.solved
    assert [i.passed for i in outcome.report.iterations] == [False, True]
    assert (repo / "calc.py").read_text() == small.FIXED


def test_an_agent_that_does_nothing_or_fails_is_stopped_in_words(repo: Path) -> None:
    outcome = play(repo, "echo 'no key' >&2\nexit 3\n")
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert "it ended with exit code 3; its last words: no key" in outcome.report.iterations[0].note


def test_it_cannot_reach_what_it_was_not_given(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    outcome = play(repo, f"cat {tmp_path}/secret.txt > found.txt && {FIX}")
    assert not outcome.solved


def test_a_program_that_is_not_there_is_the_users_to_mend_before_anything_runs(repo: Path) -> None:
    with pytest.raises(
        UsageError, match="--generator command:… names no-such-agent, which is not a program on your PATH"
    ):
        fix(repo, "no-such-agent --model x")
    assert api.runs(str(repo)) == ()


def test_an_agent_in_an_environment_of_its_own_finds_its_libraries(repo: Path, tmp_path: Path) -> None:
    """As pip, pipx and uv install them: the program lies beside a Python of its own, outside the repository."""
    own = tmp_path / "agents/mend"
    venv.create(own, symlinks=True)
    (library,) = own.glob("lib/python3.*/site-packages")
    (library / "mending.py").write_text("RIGHT = 'a + b'\n")
    program = own / "bin/mend"
    program.write_text(
        f"#!{own}/bin/python\nimport mending, pathlib\npath = pathlib.Path('calc.py')\n"
        "path.write_text(path.read_text().replace('a - b', mending.RIGHT))\n"
    )
    program.chmod(0o755)
    outcome = fix(repo, str(program))
    assert outcome.solved, outcome.report.feedback
    assert (repo / "calc.py").read_text() == small.FIXED


def test_a_stopped_run_pays_for_no_turn_twice(repo: Path) -> None:
    counted = play(repo, "sed -i 's/a - b/a * b/' calc.py || true\n", **{"budget.max_steps": 1})
    assert counted.stop_reason is StopReason.STEPS_EXHAUSTED
    (repo.parent / "agent.sh").write_text("#!/bin/sh\nsed -i 's/a \\* b/a + b/' calc.py\n")
    again = api.resume(counted.report.run_id, str(repo), {"max_steps": 3})
    assert again.solved
    assert [i.passed for i in again.report.iterations] == [False, True]
