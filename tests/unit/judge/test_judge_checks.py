"""Only a well-formed report that agrees with its exit code counts (cases H14, H15)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.domain.layer import Layer
from referee.domain.patch import FileContent, patch_of
from referee.domain.verdict import CheckState
from referee.judge.checks import Check, CommandCheck, FormatCheck, MypyCheck, RuffCheck, SyntaxCheck, new_only
from referee.judge.choose import checks_for
from referee.judge.project import Project, Tool, detect
from referee.judge.settings import CheckSpec, Settings
from referee.ports import Base, Interpreter
from referee.testing import ended

PYTHON = Interpreter(
    executable="/v/bin/python",
    prefix="/v",
    version="3.11",
    distributions={"ruff": "1", "mypy": "1", "pytest": "9"},
    scripts=("ruff", "mypy"),
)
BASE = Base(tree="t", path="/b", mount_at="/repo")
CHANGE = patch_of({"src/a.py": FileContent(data=b"x = 1\n"), "README.md": FileContent(data=b"x")})
DOCUMENT = patch_of({"README.md": FileContent(data=b"x")})


def project(**files: str) -> Project:
    tree = {"src/a.py": "x = 1\n", **{k.replace("__", "."): v for k, v in files.items()}}
    data = {p: t.encode() for p, t in tree.items()}
    return detect("/repo", sorted(data), data.get, interpreter=PYTHON)


def ruff() -> RuffCheck:
    return RuffCheck(project=project(), tool=Tool(argv=("ruff",)))


def mypy() -> MypyCheck:
    return MypyCheck(project=project(), tool=Tool(argv=("mypy",)))


def form() -> FormatCheck:
    return FormatCheck(project=project(), tool=Tool(argv=("ruff",)))


def syntax() -> SyntaxCheck:
    return SyntaxCheck(project=project(), files=("src/a.py",))


def entry(**more: Any) -> dict[str, Any]:
    place = {"row": 3, "column": 1}
    return {"filename": "/repo/src/a.py", "location": place, "code": "F401", "message": "`os` unused", **more}


DIFF = "--- src/a.py\n+++ src/a.py\n@@ -1 +1 @@\n-x=1\n+x = 1\n"
SYNTAX = json.dumps({"checked": 1, "errors": [["/repo/src/a.py", 2, "invalid syntax", "def (:"]]})

READ: list[tuple[Check, int | None, str, CheckState]] = [
    (ruff(), 0, "[]", CheckState.PASS),
    (ruff(), 1, json.dumps([entry()]), CheckState.FAIL),
    (ruff(), 1, json.dumps([entry(code=None)]), CheckState.FAIL),
    (ruff(), 0, json.dumps([entry()]), CheckState.NOT_RUN),
    (ruff(), 1, "[]", CheckState.NOT_RUN),
    (ruff(), 0, "", CheckState.NOT_RUN),
    (ruff(), 2, "error: invalid configuration", CheckState.NOT_RUN),
    (ruff(), 1, '[{"filename": "x"}]', CheckState.NOT_RUN),
    (ruff(), 0, "{}", CheckState.NOT_RUN),
    (ruff(), None, "[]", CheckState.NOT_RUN),
    (form(), 0, "", CheckState.PASS),
    (form(), 1, DIFF, CheckState.FAIL),
    (form(), 1, "", CheckState.NOT_RUN),
    (form(), 0, DIFF, CheckState.NOT_RUN),
    (form(), 0, "Traceback (most recent call last):", CheckState.NOT_RUN),
    (form(), 2, "", CheckState.NOT_RUN),
    (mypy(), 0, "", CheckState.PASS),
    (mypy(), 1, "src/a.py:3: error: Incompatible types  [assignment]\nsrc/a.py:3: note: see\n", CheckState.FAIL),
    (mypy(), 2, "src/a.py:3: error: invalid syntax  [syntax]\n", CheckState.FAIL),
    (mypy(), 0, "src/a.py:3: error: Incompatible types  [assignment]\n", CheckState.NOT_RUN),
    (mypy(), 1, "", CheckState.NOT_RUN),
    (mypy(), 0, "Traceback (most recent call last):\n", CheckState.NOT_RUN),
    (mypy(), 2, "mypy: can't read file 'x'\n", CheckState.NOT_RUN),
    (syntax(), 0, '{"checked": 1, "errors": []}', CheckState.PASS),
    (syntax(), 1, SYNTAX, CheckState.FAIL),
    (syntax(), 0, SYNTAX, CheckState.NOT_RUN),
    (syntax(), 0, "", CheckState.NOT_RUN),
]


@pytest.mark.parametrize(("check", "exit_code", "output", "state"), READ)
def test_readings(check: Check, exit_code: int | None, output: str, state: CheckState) -> None:
    execution = ended(0, output.encode()).model_copy(update={"exit_code": exit_code})
    result = check.read(execution)
    assert result.state is state
    assert bool(result.findings) == (state is not CheckState.PASS)


def test_a_finding_carries_place_rule_and_message() -> None:
    found = ruff().read(ended(1, json.dumps([entry()]).encode())).findings[0]
    assert (found.path, found.line, found.rule, found.message) == ("src/a.py", 3, "F401", "`os` unused")
    found = mypy().read(ended(1, b"src/a.py:3: error: Bad  [arg-type]\n")).findings[0]
    assert (found.path, found.line, found.rule, found.message) == ("src/a.py", 3, "arg-type", "Bad")
    found = form().read(ended(1, DIFF.encode())).findings[0]
    assert (found.path, found.detail) == ("src/a.py", ("-x=1", "+x = 1"))


@pytest.mark.parametrize(
    ("exit_code", "killed", "state"),
    [(0, None, "pass"), (1, None, "fail"), (None, "wall", "fail"), (127, None, "not_run"), (0, "memory", "fail")],
)
def test_a_command_is_its_exit_code(exit_code: int | None, killed: str | None, state: str) -> None:
    check = CommandCheck(name="c", layer=Layer.TARGET, project=project(), run=("make",))
    execution = ended(0, b"some output\n").model_copy(update={"exit_code": exit_code, "killed_by": killed})
    assert check.read(execution).state == state


def test_a_command_is_given_targets_and_files_one_by_one() -> None:
    check = CommandCheck(
        name="c", layer=Layer.TARGET, project=project(), run=("t", "{targets}", "--", "{files}"), targets=("a b", "c")
    )
    command = check.command(BASE, CHANGE)
    assert command is not None
    assert command.argv == ("t", "a b", "c", "--", "README.md", "src/a.py")


@pytest.mark.parametrize("check", [ruff(), form(), mypy(), syntax()])
def test_nothing_to_look_at_is_no_command(check: Check) -> None:
    assert check.command(BASE, DOCUMENT) is None
    assert check.command(BASE, CHANGE) is not None


def test_only_new_findings_block_and_lines_do_not_tell_them_apart() -> None:
    before = ruff().read(ended(1, json.dumps([entry(), entry()]).encode()))
    moved = [entry(location={"row": 9, "column": 1}) for _ in range(3)]
    after = new_only(ruff().read(ended(1, json.dumps(moved).encode())), before.findings)
    assert after.state is CheckState.FAIL
    assert (len(after.findings), len(after.known)) == (1, 2)
    same = new_only(before, before.findings)
    assert same.state is CheckState.PASS
    crashed = new_only(ruff().read(ended(2, b"")), before.findings)
    assert crashed.state is CheckState.NOT_RUN


def test_checks_are_those_the_project_is_set_up_for() -> None:
    made = project(pyproject__toml="[tool.ruff]\n[tool.mypy]\nfiles = ['src']\n")
    extra = CheckSpec(layer=Layer.TYPES, run=("true",), name="mine")
    names = [c.name for c in checks_for(made, Settings(checks=(extra,)), ["src/a.py"])]
    assert names == ["ruff", "ruff-format", "mypy", "syntax", "mine"]
    names = [c.name for c in checks_for(made, Settings(skip=("mypy", "ruff-format")), ["src/a.py"])]
    assert names == ["ruff", "syntax"]
    assert [c.name for c in checks_for(project(), Settings(), ["src/a.py"])] == ["syntax"]


def test_options_are_kept_when_they_decide_what_runs_and_dropped_when_they_decide_how_it_looks() -> None:
    text = (
        "[pytest]\naddopts = -ra -qq -x --maxfail=2 -n 4 --dist loadfile --cov --cov-report term -m 'not slow' -k=x\n"
        "  --strict --tb short -p no:doctest -p xdist -p plugin.mine --doctest-modules --ignore gen --run-slow tests\n"
        "  --reruns 3 --import-mode=importlib -W error -vv --junitxml=o.xml\ntestpaths = tests more\n"
    )
    config = project(pytest__ini=text).config
    assert config.arguments == (
        "--strict-markers", "-p", "plugin.mine", "--doctest-modules", "--ignore", "gen", "--run-slow",
        "--import-mode=importlib", "-W", "error",
    )  # fmt: skip
    assert config.selecting == ("-m", "not slow", "-k", "x")
    assert config.blocked == ("no:doctest",)
    assert config.testpaths == ("tests", "more")


def test_a_plugins_option_keeps_the_word_that_follows_it() -> None:
    options = "-r a --timeout 60 --asyncio-mode auto --strict-markers here --run-slow more"
    text = f"[pytest]\naddopts = {options}\ntestpaths = more\n"
    config = project(pytest__ini=text).config
    assert config.arguments == (
        "-r",
        "a",
        "--timeout",
        "60",
        "--asyncio-mode",
        "auto",
        "--strict-markers",
        "--run-slow",
    )


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"pytest__ini": "[pytest]\n", "pyproject__toml": "[tool.pytest.ini_options]\n"}, "pytest.ini"),
        ({"tox__ini": "[pytest]\n", "setup__cfg": "[tool:pytest]\n"}, "tox.ini"),
        ({"setup__cfg": "[tool:pytest]\n"}, "setup.cfg"),
        ({"setup__cfg": "[metadata]\n"}, ""),
        ({"pyproject__toml": "not toml ["}, ""),
        ({"pyproject__toml": "[tool.pytest.ini_options]\naddopts = '-m x'\n"}, "pyproject.toml"),
    ],
)
def test_the_configuration_is_the_one_pytest_would_choose(files: dict[str, str], chosen: str) -> None:
    assert project(**files).config.file == chosen
