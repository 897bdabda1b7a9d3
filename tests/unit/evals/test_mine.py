"""Tasks are made of commits and releases, and hold what the sandbox saw."""

from __future__ import annotations

import json
from pathlib import Path

import bugs
import pytest

from referee.api.bench import Mining, mine
from referee.cli import main
from referee.domain.errors import UsageError
from referee.evals.issues import read_issues
from referee.evals.task import read_tasks


def test_a_commit_whose_tests_fail_on_its_parents_source_is_a_task(tmp_path: Path) -> None:
    fix = bugs.history(tmp_path / "calc")
    told: list[str] = []
    [task] = mine(Mining(repo=str(tmp_path / "calc")), told.append)
    assert (task.fix, task.key, task.text) == (fix, "calc", "Fix adding")
    assert task.f2p == bugs.FAILING
    assert (task.n_p2p, task.lines, task.src, task.tests) == (2, 1, ("calc.py",), ("tests/test_calc.py",))
    assert task.suite_tests == 4
    assert any("changes no test and source together" in t for t in told)
    (tmp_path / "tasks.jsonl").write_text(task.model_dump_json(exclude_defaults=True) + "\n")
    [again] = read_tasks(str(tmp_path / "tasks.jsonl"))
    assert again.model_copy(update={"id": ""}) == task
    assert again.id == f"calc-{fix[:10]}"


def test_of_two_releases_one_function_at_a_time_is_put_back(tmp_path: Path) -> None:
    bugs.releases(tmp_path)
    [task] = mine(Mining(repo="calc", releases="1.0..1.1", archives=str(tmp_path)), lambda _: None)
    assert (task.pkg, task.old, task.fixed, task.file, task.func) == ("calc", "1.0", "1.1", "calc.py", "add")
    assert task.f2p == bugs.FAILING


def test_a_missing_archive_is_named_with_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pip download .* calc==1.0"):
        list(mine(Mining(repo="calc", releases="1.0..1.1", archives=str(tmp_path)), lambda _: None))


def test_a_command_that_found_nothing_for_a_mistake_leaves_no_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tasks.jsonl"
    assert main(("bench", "mine", "calc", "--releases", "1.0", "--out", str(out))) == 2
    assert "write OLD..NEW" in capfd.readouterr().err
    assert not out.exists()
    out.write_text("{}\n")
    assert main(("bench", "mine", "calc", "--releases", "1.0", "--out", str(out))) == 2
    assert out.read_text() == "{}\n", "somebody's file stays"


def test_an_issue_list_chooses_the_commits(tmp_path: Path) -> None:
    fix = bugs.history(tmp_path / "calc")
    listed = tmp_path / "issues.jsonl"
    parent = bugs.git(tmp_path / "calc", "rev-parse", "HEAD^").strip()
    issue = {"instance_id": "calc-1", "problem_statement": "sums are wrong"}
    listed.write_text(f"{json.dumps({**issue, 'fix_commit': parent})}\n")
    told: list[str] = []
    assert list(mine(Mining(repo=str(tmp_path / "calc"), issues=str(listed)), told.append)) == []
    assert told == [f"{parent[:10]}: changes no test and source together"]
    assert read_issues(str(listed))[0].text == "sums are wrong"
    assert fix not in told[0]


def test_a_line_that_is_no_issue_is_named(tmp_path: Path) -> None:
    bugs.history(tmp_path / "calc")
    listed = tmp_path / "issues.jsonl"
    listed.write_text("\n{}\n")
    with pytest.raises(UsageError, match=r"issues.jsonl line 2: .* `fix`"):
        list(mine(Mining(repo=str(tmp_path / "calc"), issues=str(listed)), lambda _: None))
