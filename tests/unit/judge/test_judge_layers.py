"""Layers as data: configured checks with readers, what is left out and why, findings that are ignored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from judge_lab import Lab, patch
from test_judge_checks import BASE, CHANGE, PYTHON, entry, mypy, project, ruff

from referee.config.judging import READERS
from referee.domain.errors import Exhausted, UsageError
from referee.domain.layer import Layer
from referee.domain.report import check_report
from referee.domain.verdict import CheckState, blocking
from referee.judge import CheckSpec, Ignore, Settings, detect, examine, outline, try_loop
from referee.judge.checks import CommandCheck, unused, without_ignored
from referee.judge.checks.command import READER_NAMES
from referee.judge.targets import kinds
from referee.testing import ended

Build = Callable[..., Lab]
PATHS = ("src/a.py", "tests/test_a.py")


def made(**spec: Any) -> CommandCheck:
    return CommandCheck(**{"name": "c", "layer": Layer.TYPES, "project": project(), "run": ("tool",), **spec})


def sarif(**more: Any) -> str:
    place = {"artifactLocation": {"uri": "file:///repo/src/a%20b.py"}, "region": {"startLine": 4}}
    result = {"ruleId": "X1", "message": {"text": "bad"}, "locations": [{"physicalLocation": place}], **more}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {}}, "results": [result]}]})


READ = [
    ("lines", 1, "src/a.py:3:1: E501 too long\nnoise\n", "fail", [("src/a.py", 3, "E501")]),
    ("lines", 1, "/repo/src/a.py:3: Bad thing [arg-type]\n", "fail", [("src/a.py", 3, "arg-type")]),
    ("lines", 0, "src/a.py:3: note\n", "pass", []),
    ("lines", 1, "it broke\n", "fail", [("", 0, "")]),
    ("lines", 127, "tool: not found\n", "not_run", [("", 0, "")]),
    ("sarif", 0, sarif(), "fail", [("src/a b.py", 4, "X1")]),
    ("sarif", 1, sarif(level="note"), "not_run", [("", 0, "")]),
    ("sarif", 0, sarif(level="note"), "pass", []),
    ("sarif", 0, sarif(suppressions=[{"kind": "inSource"}]), "pass", []),
    ("sarif", 0, "no json", "not_run", [("", 0, "")]),
    ("ruff", 1, json.dumps([entry()]), "fail", [("src/a.py", 3, "F401")]),
    ("mypy", 1, "src/a.py:3: error: Bad  [x]\n", "fail", [("src/a.py", 3, "x")]),
    ("exit", 0, "src/a.py:3: whatever\n", "pass", []),
]


@pytest.mark.parametrize(("reader", "code", "output", "state", "found"), READ)
def test_readers(reader: str, code: int, output: str, state: str, found: list[Any]) -> None:
    result = made(reader=reader).read(ended(code, output.encode()))
    assert result.state == state
    assert [(f.path, f.line, f.rule) for f in result.findings] == found
    assert {f.check for f in result.findings} <= {"c"}


def test_every_reader_can_be_configured() -> None:
    assert set(READERS) == READER_NAMES


def test_a_runner_that_ran_no_test_has_not_passed() -> None:
    result = made(reader="jest").read(ended(0, b'{"testResults": [], "success": true}'))
    assert result.state is CheckState.NOT_RUN


def test_a_check_that_may_be_missing_blocks_nobody_and_passes_nothing() -> None:
    missing = made(not_run="allow").read(ended(127, b"tool: not found"))
    assert (missing.state, missing.clear, blocking([missing])) == (CheckState.NOT_RUN, True, ())
    assert not check_report([missing], "").passed
    assert check_report([missing, made().read(ended(0, b""))], "").passed
    assert not made().read(ended(127, b"")).clear


def test_an_ignored_finding_is_set_aside_and_told() -> None:
    result = ruff().read(ended(1, json.dumps([entry(), entry(code="E501")]).encode()))
    unused_import = Ignore(reason="later", rule="F401", path="src/")
    left = without_ignored(result, [unused_import])
    assert ([f.rule for f in left.findings], [f.rule for f in left.ignored]) == (["E501"], ["F401"])
    both = without_ignored(result, [unused_import, Ignore(reason="long", check="ruff", message="unused$")])
    assert (both.state, len(both.ignored)) == (CheckState.PASS, 2)
    report = check_report([both], "")
    assert (report.passed, report.layers[0].note, len(report.ignored)) == (True, "2 ignored", 2)
    for other in (Ignore(reason="x", rule="F402"), Ignore(reason="x", path="lib/"), Ignore(reason="x", check="mypy")):
        assert without_ignored(result, [other]) == result
    assert unused([unused_import], [left]) == ()
    assert "src/lib/" in unused([Ignore(reason="gone", path="src/lib/")], [left])[0]


def test_a_check_that_did_not_run_cannot_be_ignored() -> None:
    crashed = ruff().read(ended(2, b"boom"))
    assert without_ignored(crashed, [Ignore(reason="x", message=".")]) == crashed


def test_the_plan_names_command_reader_limit_and_reason() -> None:
    spec = CheckSpec(layer=Layer.SUITE, run=("make", "slow"), name="slow", seconds=7.0, not_run="allow")
    settings = Settings(checks=(spec,), skip=("ruff-format", "nonsense"), ignore=(Ignore(reason="why", rule="E1"),))
    tree = detect("/repo", [*PATHS, "ruff.toml"], lambda p: b"", interpreter=PYTHON)
    told = outline(tree, settings, PATHS)
    rows = {r.check: r for r in told.checks}
    assert (rows["ruff"].on, rows["ruff"].why, rows["ruff"].cost) == (True, "detected: ruff.toml", "cheap")
    assert (rows["ruff-format"].on, rows["ruff-format"].why) == (False, "skipped in the settings")
    assert (rows["slow"].seconds, rows["slow"].not_run, rows["slow"].why) == (7.0, "allow", "configured")
    assert rows["slow"].command == ("make", "slow")
    assert rows["pytest-suite"].seconds == 120.0
    assert rows["pytest-suite"].command[1:3] == ("-m", "pytest")
    assert told.ignores == ("rule 'E1' (why)",)
    assert told.notes == ("skip names 'nonsense', which is no check here",)
    assert [r.on for r in told.checks] == sorted((r.on for r in told.checks), reverse=True)


def test_a_tool_of_another_environment_does_not_judge() -> None:
    """A project with an environment of its own uses the tools that are in it."""
    bare = PYTHON.model_copy(update={"prefix": "/p", "distributions": {"pytest": "9"}, "scripts": ()})
    found = detect("/repo", [*PATHS, "ruff.toml", "mypy.ini"], lambda p: b"", interpreter=bare, own=PYTHON)
    assert found.uses == ("syntax", "pytest")
    assert found.missing() == ()
    assert set(found.left_out) == {"ruff", "ruff-format", "mypy"}
    assert "pip install mypy" in found.left_out["mypy"]
    shared = detect("/repo", [*PATHS, "mypy.ini"], lambda p: b"", interpreter=PYTHON, own=PYTHON)
    assert shared.uses == ("mypy", "syntax", "pytest")


def test_what_is_wrong_with_mypys_set_up_is_said() -> None:
    said = 'b/dup.py: error: Duplicate module named "dup" (also at "a/dup.py")\nb/dup.py: note: See https://x\n'
    result = mypy().read(ended(2, said.encode()))
    assert result.state is CheckState.NOT_RUN
    assert 'Duplicate module named "dup"' in result.note
    noted = "note: a hint without a place\nsrc/a.py:3: error: Bad  [x]\nFound 1 error in 1 file\n"
    assert [f.rule for f in mypy().read(ended(1, noted.encode())).findings] == ["x"]


def test_ruffs_report_may_follow_other_words() -> None:
    assert ruff().read(ended(0, b"warning: old setting\n[]\n")).state is CheckState.PASS


@pytest.mark.parametrize(
    ("target", "commands"),
    [("true", ("true",)), ("make", ("make",)), ("./run.sh", ("./run.sh",)), ("make x", ("make x",)), ("run.sh", ())],
)
def test_a_target_may_be_one_word(target: str, commands: tuple[str, ...]) -> None:
    assert kinds(frozenset((*PATHS, "run.sh")), [target])[1] == commands


@pytest.mark.parametrize("target", ["test_b", "tests/test_b", "test_a", "sub/x.py", "x.py::test"])
def test_a_misspelt_test_is_no_command(target: str) -> None:
    with pytest.raises(UsageError, match="names no file"):
        kinds(frozenset(PATHS), [target])


def test_a_command_with_open_quotes_is_refused(build: Build) -> None:
    lab = build({"mod.py": "x = 1\n"})
    with pytest.raises(UsageError, match="balance its quotes"):
        lab.bench("sh -c 'exit 1")


def test_a_program_that_is_not_there_is_named(build: Build) -> None:
    lab = build({"mod.py": "x = 1\n"})
    with pytest.raises(UsageError, match="nosuchprogram cannot run in the sandbox"):
        lab.bench("nosuchprogram")


def test_a_slow_target_names_the_setting(build: Build) -> None:
    lab = build({"mod.py": "x = 1\n"})
    with pytest.raises(Exhausted, match=r"within 1 seconds .* raise target_seconds under \[judge\]"):
        lab.bench("sleep 60", target_seconds=1.0)


def test_a_slow_suite_and_a_slow_test_name_their_settings(build: Build) -> None:
    slow = "import time\ndef test_slow():\n    time.sleep(30)\n"
    lab = build({"tests/test_slow.py": slow})
    (suite,) = [r for r in examine(lab.run, lab.project(), lab.base, Settings(suite_seconds=2.0)) if r.layer == "L5"]
    assert "longer than 2 seconds; raise suite_seconds under [judge]" in suite.findings[0].message
    (suite,) = [r for r in examine(lab.run, lab.project(), lab.base, Settings(test_seconds=1.0)) if r.layer == "L5"]
    assert "a test ran longer than 1 seconds: raise test_seconds under [judge]" in suite.note


def test_an_environment_without_pytest_is_said(build: Build) -> None:
    lab = build({"tests/test_a.py": "def test_a(): pass\n"})
    tree = lab.project()
    bare = tree.interpreter.model_copy(update={"distributions": {}, "note": ""})
    results = examine(lab.run, tree.model_copy(update={"interpreter": bare}), lab.base, Settings())
    assert (results[-1].state, "has no pytest; install it" in results[-1].note) == (CheckState.NOT_RUN, True)


@pytest.mark.parametrize("ignored", [False, True])
def test_an_ignored_finding_does_not_stop_a_patch(build: Build, ignored: bool) -> None:
    test = "from mod import add\ndef test_add():\n    assert add(2, 3) == 5\n"
    lab = build({"mod.py": "def add(a, b):\n    return a - b\n", "tests/test_mod.py": test})
    spec = CheckSpec(layer=Layer.FORMAT, name="todo", reader="lines", run=("sh", "-c", "! grep -n TODO mod.py -H"))
    ignore = Ignore(reason="a list of them is kept", check="todo", message="TODO")
    bench = lab.bench("tests/test_mod.py", checks=(spec,), ignore=(ignore,) if ignored else ())
    fix = patch({"mod.py": "def add(a, b):\n    return a + b  # TODO\n"})
    todo = next(r for r in try_loop(lab.run, bench, fix, False) if r.check == "todo")
    assert (todo.state, len(todo.ignored)) == (("pass", 1) if ignored else ("fail", 0))


def test_lines_of_a_command_are_filled_with_nothing_else() -> None:
    command = made(run=("lint", "{files}")).command(BASE, CHANGE)
    assert command is not None
    assert command.argv == ("lint", "README.md", "src/a.py")
