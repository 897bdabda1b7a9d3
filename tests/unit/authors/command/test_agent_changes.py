"""From the files that an agent left to a patch under the rules of every proposal."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.changes import MOST_FILES, Tree, Work, reported
from referee.domain.errors import Rejected
from referee.domain.paths import objection
from referee.domain.protection import Protection

FILES = {
    "src/a.py": b"x = 1\n",
    "tests/test_a.py": b"def test(): pass\n",
    ".gitignore": b"*.log\n!kept.log\nbuild/\n",
    "docs/.gitignore": b"!seen.log\n",
    "run.sh": b"#!/bin/sh\n",
    "old.log": b"tracked all the same\n",
}
ENDED = {"exit": 0}


def done(*lines: dict[str, Any]) -> Work:
    return reported("".join(json.dumps(line) + "\n" for line in lines).encode(), tree())


def tree() -> Tree:
    rules = Protection()
    return Tree(
        paths=frozenset(FILES),
        read=FILES.get,
        executable=lambda path: path == "run.sh",
        objection=lambda path: objection(path) or rules.objection(path),
    )


def wrote(path: str, data: bytes, executable: bool = False) -> dict[str, Any]:
    return {"path": path, "data": base64.b64encode(data).decode(), "executable": executable}


def test_changes_become_a_patch_with_modes() -> None:
    found = done(
        wrote("src/a.py", b"x = 2\n"),
        wrote("new.sh", b"#!/bin/sh\n", executable=True),
        {"path": "old.log", "gone": True},
        ENDED,
    )
    assert found.patch.touched == ("new.sh", "old.log", "src/a.py")
    by_path = {c.path: c.after for c in found.patch.changes}
    assert by_path["new.sh"] is not None and by_path["new.sh"].executable
    assert by_path["old.log"] is None
    assert (found.undone, found.ended) == ((), "")


def test_what_was_only_touched_is_no_change() -> None:
    """Any write gives a file a new time, and so does a copy between layers."""
    assert not done(wrote("src/a.py", b"x = 1\n"), wrote("run.sh", b"#!/bin/sh\n", True), ENDED).patch.changes
    assert done(wrote("run.sh", b"#!/bin/sh\n"), ENDED).patch.touched == ("run.sh",)


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py", "tests/new.py", "conftest.py", "pyproject.toml", "sitecustomize.py", "evil.pth",
        "x.dist-info/entry_points.txt", ".git/hooks/pre-commit", "../out.py", "/etc/passwd", ".gitignore", "a\\b.py",
    ],
)  # fmt: skip
def test_what_it_may_not_change_is_undone_and_counted(path: str) -> None:
    found = done(wrote(path, b"print()\n"), wrote("src/a.py", b"x = 2\n"), ENDED)
    assert found.patch.touched == ("src/a.py",)
    (undone,) = found.undone
    assert undone.kind == "unauthorised"
    assert "was undone" in undone.message


def test_litter_and_ignored_files_are_neither_change_nor_trespass() -> None:
    names = ("a.log", "build/x.py", "src/__pycache__/a.pyc", ".aider.chat.history.md", ".pytest_cache/v", "docs/b.log")
    found = done(*(wrote(n, b"x") for n in names), wrote("kept.log", b"x"), wrote("docs/seen.log", b"x"), ENDED)
    assert found.patch.touched == ("docs/seen.log", "kept.log")
    assert found.undone == ()
    assert done(wrote("old.log", b"more"), ENDED).patch.touched == ("old.log",), "what is tracked is never ignored"


def test_links_are_undone_and_no_trespass() -> None:
    found = done({"path": "src/link.py", "special": True}, ENDED)
    assert found.patch.touched == ()
    assert found.undone[0].kind == "unappliable"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"exit": 3}, "it ended with exit code 3"),
        ({"exit": None}, "its time ended"),
        ({"failed": "x could not be started: no"}, "x could not be started: no"),
        (wrote("src/a.py", b"x = 2\n"), "it did not come to an end"),
    ],
)
def test_how_it_ended_is_said(line: dict[str, Any], words: str) -> None:
    assert done(line).ended == words


def test_too_much_is_no_proposal() -> None:
    with pytest.raises(Rejected, match="at most"):
        done(*(wrote(f"src/f{n}.py", b"x") for n in range(MOST_FILES + 1)), ENDED)
    with pytest.raises(Rejected, match="too large"):
        done({"over": True}, ENDED)


@given(st.binary(max_size=200) | st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=8))).map(
    lambda lines: "\n".join(map(json.dumps, lines)).encode()
))  # fmt: skip
def test_an_agent_that_writes_the_report_itself_gets_no_further(channel: bytes) -> None:
    try:
        found = reported(channel, tree())
    except Rejected as refused:
        assert refused.findings
    else:
        rules = Protection()
        assert not any(rules.guarded(p) or objection(p) for p in found.patch.touched)
