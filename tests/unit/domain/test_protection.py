"""What a proposal may name, and what it may change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from referee.domain.paths import objection
from referee.domain.protection import JUDGE, TESTS, Protection, literal


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "C:\\x", "c:/x", "\\\\?\\C:\\x", "a\\b", "../x", "a/../../x", "a/./b", "a//b", "~/.ssh/id",
        ".git/config", "vendor/lib/.git/hooks/post-checkout", "a/.GIT/x", "a\nb", "a\x00b", "a\u202eb", "a ", "a./b",
        "cafe\u0301.py", "x" * 600,
    ],
)  # fmt: skip
def test_odd_paths_are_refused_in_words(path: str) -> None:
    """Cases G15, D1."""
    assert objection(path)


@pytest.mark.parametrize("path", ["a.py", "src/a.py", "caf\u00e9/b.py", "a-b_c.d/e", ".hidden", "src/git/x.py"])
def test_plain_paths_are_allowed(path: str) -> None:
    assert objection(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py", "src/pkg/tests/deep/helper.py", "Tests/x.py", "conftest.py", "src/conftest.py",
        "src/test_a.py", "src/a_test.py", "pytest.ini", "pyproject.toml", "sub/tox.ini", "setup.cfg",
        "src/sitecustomize.py", "x.pth", "src/x.pth", "src/a.pyc", "src/__pycache__/a.cpython-311.pyc", "src/a.so",
        "evil-1.dist-info/entry_points.txt", "evil.egg-info/PKG-INFO", "pytest.py", "src/_pytest/x.py",
        ".github/workflows/ci.yml", ".harness/state.db", ".venv/lib/x.py", "referee.toml", ".gitattributes",
        ".mcp.json", ".claude/settings.json", "hooks.json",
    ],
)  # fmt: skip
def test_tests_and_everything_that_steers_the_judge_are_protected(path: str) -> None:
    """Cases B1, B3, B5, B14."""
    assert "protected" in (Protection(source=("src",)).objection(path) or "")


@pytest.mark.parametrize("path", ["src/a.py", "src/latest.py", "src/contest.py", "src/attest/x.py"])
def test_ordinary_source_is_open(path: str) -> None:
    assert Protection(source=("src",)).objection(path) is None


def test_outside_the_source_patterns_is_refused_with_what_is_allowed() -> None:
    assert "allowed source patterns src" in (Protection(source=("src",)).objection("docs/a.py") or "")
    assert Protection().objection("docs/a.py") is None


def test_the_users_own_patterns_add_to_the_list() -> None:
    protection = Protection(protected=("golden/**", "*.sql"))
    assert protection.guarded("golden/x/y.txt")
    assert protection.guarded("db/schema.sql")
    assert protection.guarded("conftest.py")


def test_a_literal_pattern_names_one_file() -> None:
    for path in ("a b[1].sh", "!x*.sh", "#x", "d/guard.sh", "a\\b ", "what?"):
        protection = Protection(protected=(literal(path),))
        assert protection.guarded(path) and not protection.guarded("sub/" + path)
    assert not Protection(protected=(literal("*.sh"),)).guarded("a.sh")


USERS = ("golden/**", "*.sql", "/a.py", "src/b")
PART = st.sampled_from(
    ["tests", "src", "a.py", "b", "conftest.py", "x.pth", "test_a.py", "golden", ".git", "pytest", "x.sql", ".env",
     ".env.local", "requirements-dev.txt", "id_rsa.pub", "a.so", "Tests", "TEST_A.py", "x.dist-info", "METADATA"]
)  # fmt: skip


@given(st.lists(PART, min_size=1, max_size=4).map("/".join))
def test_the_quick_answer_is_the_one_of_git_ignore_rules(path: str) -> None:
    rules = GitIgnoreSpec.from_lines((*TESTS, *JUDGE, *USERS))
    expected = rules.match_file(path) or rules.match_file(path.casefold())
    assert Protection(protected=USERS).guarded(path) is bool(expected)
