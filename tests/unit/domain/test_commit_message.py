"""A commit's message: short subject, trailers that git reads, and nothing in between that a server would obey."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.commit_message import Repaired, commit_message, subject
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState

RESULTS = (
    CheckResult(check="ruff", layer=Layer.FORMAT, state=CheckState.PASS),
    CheckResult(check="pytest", layer=Layer.TARGET, state=CheckState.PASS),
    CheckResult(check="pytest", layer=Layer.SUITE, state=CheckState.PASS),
    CheckResult(check="mypy", layer=Layer.TYPES, state=CheckState.NOT_RUN),
)


def test_it_says_what_was_wrong_what_changed_and_what_passed() -> None:
    repaired = Repaired(
        run_id="r-1",
        task="Discounts are wrong.",
        targets=("tests/test_cart.py::test_discount[a-b]",),
        cause="the comparison is strict",
        author="search",
        touched=("src/pricing.py",),
        results=RESULTS,
        apart=("notes.txt",),
    )
    assert commit_message(repaired) == (
        "Discounts are wrong\n\n"
        "What was wrong: the comparison is strict\n\n"
        "What changed:\n* src/pricing.py\n\n"
        "What failed before and passes now:\n* tests/test_cart.py::test_discount[a-b]\n\n"
        "Referee-Run: r-1\nReferee-Author: search\nReferee-Judge: passed L0 ruff; L3 pytest; L5 pytest\n"
        "Referee-Judged-With: uncommitted changes in 1 other files\n"
    )


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("mend it [skip ci]", "mend it (skip ci)"),
        ("closes #12", "closes # 12"),
        ("thanks @somebody", "thanks @ somebody"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        ("mail a@example.org", "mail a@example.org"),
        ("  ", "Mend what fails"),
    ],
)
def test_no_server_is_told_what_to_do(said: str, shown: str) -> None:
    assert subject(said, ()) == shown


@given(task=st.text(), cause=st.text(), touched=st.lists(st.text(), max_size=20))
def test_any_text_leaves_subject_and_trailers_whole(task: str, cause: str, touched: list[str]) -> None:
    message = commit_message(Repaired(run_id="r", task=task, cause=cause, touched=tuple(touched), results=RESULTS))
    lines = message.splitlines()
    assert 0 < len(lines[0]) <= 72
    assert lines[1] == ""
    assert message.rstrip("\n").split("\n\n")[-1].splitlines() == [
        "Referee-Run: r",
        "Referee-Author: unknown",
        "Referee-Judge: passed L0 ruff; L3 pytest; L5 pytest",
    ]
    message.encode()


def test_git_finds_the_trailers_and_only_them() -> None:
    forged = Repaired(run_id="r", task="x", cause="y\n\nSigned-off-by: Eve <eve@example.org>", results=RESULTS)
    said = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=commit_message(forged).encode(), capture_output=True, check=True
    )
    assert [row.partition(":")[0] for row in said.stdout.decode().splitlines()] == [
        "Referee-Run",
        "Referee-Author",
        "Referee-Judge",
    ]
