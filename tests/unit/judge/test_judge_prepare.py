"""The judge is checked before the player plays: each way a target can be unusable, in words (D4)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from judge_lab import Lab, patch

from referee.domain.errors import Exhausted, UsageError
from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.verdict import CheckState
from referee.judge import CheckSpec, compress, examine, prepare, screen, try_gate, try_loop
from referee.judge.settings import Settings

Build = Callable[..., Lab]
MOD = "def add(a, b):\n    return a - b\ndef same(a):\n    return a\n"
TEST = """\
from mod import add, same
def test_add():
    assert add(2, 3) == 5
def test_same():
    assert same(1) == 1
"""
FILES = {"mod.py": MOD, "tests/test_mod.py": TEST}
FIX = {"mod.py": MOD.replace("a - b", "a + b")}


def _stopped(error: pytest.ExceptionInfo[Exhausted]) -> StopReason:
    return error.value.reason


def test_no_target_means_what_fails(build: Build) -> None:
    bench = build(FILES).bench()
    assert bench.targets == ("tests/test_mod.py::test_add",)
    assert bench.known.outcomes["tests/test_mod.py::test_same"] == "passed"


def test_a_file_stands_for_all_its_tests(build: Build) -> None:
    lab = build(FILES)
    bench = lab.bench("tests/test_mod.py")
    assert set(bench.expected.ids) == {"tests/test_mod.py::test_add", "tests/test_mod.py::test_same"}
    breaks = patch({"mod.py": FIX["mod.py"].replace("return a\n", "return 0\n")})
    good, bad = screen(lab.run, bench, [patch(FIX), breaks])
    assert (good.state, bad.state) == (CheckState.PASS, CheckState.FAIL)


def test_a_green_target_is_not_reproduced(build: Build) -> None:
    with pytest.raises(Exhausted, match="nothing to repair") as error:
        build(FILES).bench("tests/test_mod.py::test_same")
    assert _stopped(error) is StopReason.NOT_REPRODUCED


def test_a_green_suite_is_not_reproduced(build: Build) -> None:
    with pytest.raises(Exhausted, match="whole suite passes") as error:
        build({**FILES, **FIX}).bench()
    assert _stopped(error) is StopReason.NOT_REPRODUCED


def test_an_unknown_test_names_the_nearest(build: Build) -> None:
    """Case H9: a target that selects nothing is refused."""
    with pytest.raises(UsageError, match=r"no test tests/test_mod.py::test_ad; .*tests/test_mod.py::test_add"):
        build(FILES).bench("tests/test_mod.py::test_ad")


def test_an_unknown_file_names_the_nearest(build: Build) -> None:
    with pytest.raises(UsageError, match=r"names no file.*tests/test_mod.py"):
        build(FILES).bench("tests/test_mob.py::test_add")


def test_a_flaky_target_stops_the_run(build: Build) -> None:
    flaky = "import os\ndef test_it():\n    assert os.getrandom(1)[0] == -1, os.getrandom(8).hex()\n"
    with pytest.raises(Exhausted, match="differently") as error:
        build({**FILES, "tests/test_mod.py": flaky}).bench("tests/test_mod.py")
    assert _stopped(error) is StopReason.FLAKY_CHECK


def test_a_target_that_only_fails_in_company_is_flaky(build: Build) -> None:
    order = "state = []\ndef test_first():\n    state.append(1)\ndef test_second():\n    assert not state\n"
    with pytest.raises(Exhausted, match="test_second does not behave alike") as error:
        build({"mod.py": MOD, "tests/test_order.py": order}).bench()
    assert _stopped(error) is StopReason.FLAKY_CHECK


def test_a_slow_suite_is_refused_in_words(build: Build) -> None:
    slow = "import time\ndef test_slow():\n    time.sleep(60)\n"
    with pytest.raises(Exhausted, match="did not end within 2 seconds") as error:
        build({**FILES, "tests/test_slow.py": slow}).bench(suite_seconds=2.0, test_seconds=50.0)
    assert _stopped(error) is StopReason.JUDGE_UNRELIABLE


def test_a_project_without_tests_is_refused(build: Build) -> None:
    """Case H13: nobody's word stands in for a check."""
    with pytest.raises(UsageError, match="nothing can judge"):
        build({"mod.py": MOD}).bench()


def test_an_interpreter_without_pytest_is_named(build: Build) -> None:
    """Case H5: a venv lacking pytest is not fine."""
    lab = build(FILES)
    project = lab.project()
    bare = project.interpreter.model_copy(update={"distributions": {}, "note": "python has no pytest; install it"})
    with pytest.raises(UsageError, match="has no pytest; install it"):
        lab_prepare(lab, project.model_copy(update={"interpreter": bare, "note": bare.note}))


def lab_prepare(lab: Lab, project: object) -> object:
    return prepare(lab.run, project, lab.base, (), Settings())  # type: ignore[arg-type]


def test_a_configured_tool_that_is_missing_is_named(build: Build) -> None:
    """Case H14."""
    lab = build({**FILES, "mypy.ini": "[mypy]\n"})
    project = lab.project().model_copy(update={"tools": {}})
    with pytest.raises(UsageError, match="set up for mypy, which is not installed"):
        lab_prepare(lab, project)


@pytest.mark.slow
def test_a_module_that_cannot_be_imported_can_be_repaired(build: Build) -> None:
    lab = build({**FILES, "mod.py": "def add(a, b):\n    return a + b\n"})
    bench = lab.bench()
    assert bench.targets == ("tests/test_mod.py",)
    assert "same" in compress(bench.failures)
    whole = patch({"mod.py": "def add(a, b):\n    return a + b\ndef same(a):\n    return a\n"})
    half = patch({"mod.py": "def add(a, b):\n    return a + b\ndef same(a):\n    return 0\n"})
    skips = patch({"mod.py": "import unittest\nraise unittest.SkipTest('x')\n"})
    states = [r.state for r in screen(lab.run, bench, [whole, half, skips])]
    assert states == [CheckState.PASS, CheckState.FAIL, CheckState.FAIL]
    results = (*try_loop(lab.run, bench, whole, False), *try_gate(lab.run, bench, whole, False))
    assert {r.state for r in results} == {CheckState.PASS}


@pytest.mark.slow
def test_a_loop_that_never_ends_can_be_repaired(build: Build) -> None:
    lab = build({**FILES, "mod.py": MOD.replace("return a - b", "while True: pass")}, timeout=10_000)
    bench = lab.bench("tests/test_mod.py::test_add", test_seconds=1.0)
    assert "ran longer than" in compress(bench.failures)
    assert screen(lab.run, bench, [patch(FIX)])[0].state is CheckState.PASS


def test_a_patch_that_breaks_another_test_stops_at_the_gate(build: Build) -> None:
    """Case B7: the target alone never lands."""
    lab = build(FILES)
    bench = lab.bench("tests/test_mod.py::test_add")
    change = patch({"mod.py": FIX["mod.py"].replace("return a\n", "return 0\n")})
    assert {r.state for r in try_loop(lab.run, bench, change, False)} == {CheckState.PASS}
    (gate,) = try_gate(lab.run, bench, change, False)
    assert gate.state is CheckState.FAIL
    assert [f.id for f in gate.findings] == ["tests/test_mod.py::test_same"]


def test_a_patch_that_makes_tests_vanish_stops_at_the_gate(build: Build) -> None:
    """Case H7: fewer tests than before is no success."""
    cases = "import pytest\nfrom mod import CASES\n@pytest.mark.parametrize('n', CASES)\ndef test_n(n):\n    assert n\n"
    lab = build({**FILES, "mod.py": MOD + "CASES = [1, 2, 3]\n", "tests/test_cases.py": cases})
    bench = lab.bench("tests/test_mod.py::test_add")
    fewer = patch({"mod.py": FIX["mod.py"] + "CASES = [1, 2]\n"})
    (gate,) = try_gate(lab.run, bench, fewer, False)
    assert gate.state is CheckState.FAIL
    assert [(f.id, f.error) for f in gate.findings] == [("tests/test_cases.py::test_n[3]", "missing")]


def test_a_patch_that_was_not_imported_is_not_judged(build: Build) -> None:
    """Case H1: the tests must have run the code that was patched."""
    loader = "import importlib.util, sys\ndef load(name, path):\n    spec = importlib.util.spec_from_file_location(name, path)\n    module = importlib.util.module_from_spec(spec)\n    sys.modules[name] = module\n    spec.loader.exec_module(module)\n    return module\n"  # noqa: E501
    test = (
        "import shutil\nfrom loader import load\n"
        "def test_add(tmp_path):\n    shutil.copy('copy.txt', tmp_path / 'pkg.py')\n"
        "    assert load('pkg', tmp_path / 'pkg.py').add(2, 3) == 5\n"
    )
    files = {"pkg.py": MOD, "copy.txt": MOD, "tests/loader.py": loader, "tests/test_pkg.py": test}
    lab = build(files)
    bench = lab.bench(source=("pkg.py", "copy.txt"))  # the test itself reads the copy, and it may be changed
    change = patch({"pkg.py": FIX["mod.py"], "copy.txt": FIX["mod.py"]})
    result = screen(lab.run, bench, [change])[0]
    assert result.state is CheckState.FAIL
    assert [f.error for f in result.findings] == ["imported elsewhere"]


def test_a_new_file_cannot_stand_in_for_a_helper_of_the_tests(build: Build) -> None:
    files = {**FILES, "tests/helper.py": "def want():\n    return 5\n"}
    files["tests/test_mod.py"] = (
        "from mod import add\nfrom helper import want\ndef test_add():\n    assert add(2, 3) == want()\n"
    )
    lab = build(files)
    bench = lab.bench()
    stand_in = patch({"helper.py": "def want():\n    return -1\n"})
    good, bad = screen(lab.run, bench, [patch(FIX), stand_in])
    assert (good.state, bad.state) == (CheckState.PASS, CheckState.FAIL)


def test_a_target_may_be_a_command(build: Build) -> None:
    lab = build(FILES)
    bench = lab.bench("python3 -c 'import mod; raise SystemExit(mod.add(2, 3) != 5)'")
    assert "failed: exit code 1" in compress(bench.failures)
    good = try_loop(lab.run, bench, patch(FIX), False)
    bad = try_loop(lab.run, bench, patch({"mod.py": MOD + "\n"}), False)
    assert good[-1].state is CheckState.PASS
    assert bad[-1].state is CheckState.FAIL


@pytest.mark.slow
def test_linters_hold_only_what_is_new_against_a_patch(build: Build) -> None:
    """D1: the baseline's findings are known beforehand."""
    old = "import os\n" + MOD
    lab = build({**FILES, "mod.py": old, "ruff.toml": "lint.select = ['F', 'E']\n", "mypy.ini": "[mypy]\n"})
    bench = lab.bench("tests/test_mod.py::test_add")
    assert [f.rule for f in bench.known_findings["ruff"]] == ["F401"]
    good = {r.check: r for r in try_loop(lab.run, bench, patch({"mod.py": old.replace("a - b", "a + b")}), False)}
    assert {r.state for r in good.values()} == {CheckState.PASS}
    assert good["ruff"].known
    bad = {r.check: r for r in try_loop(lab.run, bench, patch({"mod.py": "import sys\n" + old}), False)}
    assert bad["ruff"].state is CheckState.FAIL
    assert [f.rule for f in bad["ruff"].findings] == ["F401"]
    assert "pytest" not in bad


def test_the_first_failing_layer_is_the_last(build: Build) -> None:
    """D1: every check inside it runs, none after it; pressed, the target alone (A3)."""
    lab = build(FILES)
    checks = (
        CheckSpec(
            layer=Layer.TYPES, run=("python3", "-c", "raise SystemExit('bad' in open('mod.py').read())"), name="a"
        ),
        CheckSpec(layer=Layer.TYPES, run=("true",), name="b"),
    )
    bench = lab.bench("tests/test_mod.py::test_add", checks=checks)
    change = patch({"mod.py": FIX["mod.py"] + "# bad\n"})
    assert [r.check for r in try_loop(lab.run, bench, change, False)] == ["integrity", "a", "b"]
    assert [r.check for r in try_loop(lab.run, bench, change, True)] == ["integrity", "pytest"]


def test_cheats_are_named_before_anything_runs(build: Build) -> None:
    lab = build(FILES)
    bench = lab.bench("tests/test_mod.py::test_add")
    ran = lab.run.view.spent.tool_seconds
    sneaky = patch({"mod.py": "import sys\ndef add(a, b):\n    return sys._getframe(1)\n"})
    (result,) = try_loop(lab.run, bench, sneaky, False)
    assert [f.kind for f in result.findings] == [FindingKind.TAMPER]
    assert lab.run.view.spent.tool_seconds == ran


def test_the_tree_as_it_is(build: Build) -> None:
    lab = build({**FILES, "ruff.toml": "lint.select = ['F']\n"})
    results = {r.check: r for r in examine(lab.run, lab.project(), lab.base, Settings())}
    assert results["ruff"].state is CheckState.PASS
    assert results["pytest-suite"].state is CheckState.FAIL
    assert "test_add" in compress(tuple(results.values()))


def test_a_suite_that_collects_nothing_says_why(build: Build) -> None:
    """Cases F10, H5: exit code 4 and 5 are named for what they are."""
    with pytest.raises(UsageError, match=r"collects nothing .*nonsense"):
        build({**FILES, "pytest.ini": "[pytest]\naddopts = --nonsense=1\n"}).bench()
    with pytest.raises(UsageError, match="collects nothing"):
        build({"mod.py": MOD, "tests/test_empty.py": "x = 1\n"}).bench()


def test_a_target_that_takes_the_process_with_it_can_be_repaired(build: Build) -> None:
    lab = build({**FILES, "mod.py": MOD.replace("return a - b", "__import__('os').abort()")})
    bench = lab.bench("tests/test_mod.py::test_add")
    told = compress(bench.failures)
    assert "SIGABRT" in told
    assert "test_add" in told
    assert screen(lab.run, bench, [patch(FIX)])[0].state is CheckState.PASS


def test_a_module_that_takes_the_process_with_it_can_be_repaired(build: Build) -> None:
    lab = build({**FILES, "mod.py": MOD + "__import__('os').abort()\n"})
    bench = lab.bench("tests/test_mod.py::test_add")
    assert any("suite collects nothing" in n for n in lab.notes)
    good, bad = screen(lab.run, bench, [patch(FIX), patch({"mod.py": MOD})])
    assert (good.state, bad.state) == (CheckState.PASS, CheckState.FAIL)


def test_a_check_left_out_may_be_missing(build: Build) -> None:
    lab = build({**FILES, "mypy.ini": "[mypy]\n"})
    project = lab.project().model_copy(update={"tools": {}})
    bench = prepare(lab.run, project, lab.base, (), Settings(skip=("mypy",)))
    assert bench.targets
