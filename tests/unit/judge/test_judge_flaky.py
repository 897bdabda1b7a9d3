"""What is not the same every time: told apart from what a patch broke, remembered for the tree, never a target."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from judge_lab import Lab, patch

from referee.actions.recall import Remember
from referee.domain.errors import Exhausted
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.reason import StopReason
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, CheckSpec, Settings, compress, examine, facts, prepare, try_gate, try_loop
from referee.judge.again import looked_again
from referee.judge.seen import suite_command

Build = Callable[..., Lab]
MOD = "def add(a, b):\n    return a - b\ndef same(a):\n    return a\n"
TEST = (
    "from mod import add, same\ndef test_add():\n    assert add(2, 3) == 5\ndef test_same():\n    assert same(1) == 1\n"
)
FILES = {"mod.py": MOD, "tests/test_mod.py": TEST}
FIX = patch({"mod.py": MOD.replace("a - b", "a + b")})
TARGET = "tests/test_mod.py::test_add"
CHANCE = "import os\ndef test_chance():\n    assert os.getrandom(1)[0] % 2\n"
LUCK = "tests/test_luck.py::test_chance"


def _bare(lab: Lab) -> Bench:
    return Bench(project=lab.project(), base=lab.base, settings=Settings())


def _turn(lab: Lab, key: str) -> None:
    """Remember the suite as if every test had passed."""
    seen = facts.known_suite(lab.run, key)
    assert seen is not None
    other = {"outcome": "passed", "raised": None}
    phases = {t: tuple(p.model_copy(update=other) for p in ended) for t, ended in seen.report.phases.items()}
    report = seen.report.model_copy(update={"phases": phases})
    facts.keep_suite(lab.run, key, seen.model_copy(update={"report": report}))


def broken(*ids: str) -> CheckResult:
    """A gate at which these tests failed."""
    found = tuple(Finding(check="pytest-suite", id=i, error="AssertionError", message="no") for i in ids)
    return CheckResult(check="pytest-suite", layer=Layer.SUITE, state=CheckState.FAIL, findings=found)


def test_a_marked_test_is_reported_and_not_counted(build: Build) -> None:
    marked = "import pytest\n@pytest.mark.flaky(reruns=2)\ndef test_chance():\n    assert False\n"
    lab = build({**FILES, "tests/test_luck.py": marked})
    bench = lab.bench()
    assert (bench.targets, bench.flaky) == ((TARGET,), (LUCK,))
    results = (*try_loop(lab.run, bench, FIX, False), *try_gate(lab.run, bench, FIX, False))
    assert {r.state for r in results} == {CheckState.PASS}
    assert [f.id for f in results[-1].known] == [LUCK]
    assert "1 of them flaky and not counted" in results[-1].note
    lab = build({"tests/test_luck.py": marked})
    assert examine(lab.run, lab.project(), lab.base, Settings())[-1].state is CheckState.PASS


def test_a_listed_test_that_is_the_target_still_has_to_pass(build: Build) -> None:
    """Nothing may pass because what it has to mend is called flaky."""
    lab = build(FILES)
    bench = lab.bench(TARGET, flaky=(TARGET,))
    nothing = patch({"mod.py": MOD + "\n"})
    assert [r.state for r in try_loop(lab.run, bench, nothing, True)] == [CheckState.PASS, CheckState.FAIL]
    assert [r.state for r in try_loop(lab.run, bench, FIX, True)] == [CheckState.PASS, CheckState.PASS]
    assert try_gate(lab.run, bench, nothing, False)[-1].state is CheckState.FAIL


def test_only_flaky_tests_are_nothing_to_repair(build: Build) -> None:
    with pytest.raises(Exhausted, match=r"only flaky tests are left to repair: tests/test_mod\.py::test_add") as error:
        build(FILES).bench(flaky=(TARGET,))
    assert error.value.reason is StopReason.FLAKY_CHECK


def test_tests_that_need_their_order_are_no_flaky_tests(build: Build) -> None:
    first = "state = []\ndef test_a():\n    state.append(1)\n    assert len(state) == 9\n"
    order = first + "def test_b():\n    assert state == 1\n"
    lab = build({"mod.py": MOD, "tests/test_order.py": order})
    assert len(lab.bench("tests/test_order.py").targets) == 2
    assert any("depend on the order" in n for n in lab.notes)


def test_chance_on_the_unpatched_tree_is_not_the_patches_fault(build: Build) -> None:
    lab = build({**FILES, "tests/test_luck.py": CHANCE.replace("% 2", "< 0")})
    bench = lab.bench(TARGET)
    known = bench.known.model_copy(update={"outcomes": {**bench.known.outcomes, LUCK: "passed"}})
    bench = bench.model_copy(update={"known": known})
    result = looked_again(lab.run, bench, FIX, broken(LUCK), 10.0)
    assert (result.state, [f.id for f in result.known]) == (CheckState.PASS, [LUCK])
    assert facts.known_flaky(lab.run, lab.tree) == (LUCK,)
    assert any(f"flaky on the unpatched tree, so not counted and remembered for it: {LUCK}" in n for n in lab.notes)
    lab.begin()
    assert LUCK in lab.bench(TARGET).flaky


def test_what_a_patch_broke_still_counts(build: Build) -> None:
    """Case H5: a real failure is not repeated until it passes."""
    lab = build(FILES)
    bench = lab.bench(TARGET)
    breaks = patch({"mod.py": MOD.replace("a - b", "a + b").replace("return a\n", "return 0\n")})
    (gate,) = try_gate(lab.run, bench, breaks, False)
    assert (gate.state, [f.id for f in gate.findings]) == (CheckState.FAIL, ["tests/test_mod.py::test_same"])
    assert facts.known_flaky(lab.run, lab.tree) == ()
    once = looked_again(lab.run, bench, FIX, broken("tests/test_mod.py::test_same"), 10.0)
    assert once.state is CheckState.FAIL
    assert "it passed when it was run again" in compress([once])


def test_lots_are_drawn_alike_every_time(build: Build) -> None:
    drawn = (
        "import random, time, os\nHEAD = random.random()\n"
        "def test_a():\n    assert (HEAD, random.random(), time.tzname, os.environ['PYTHONHASHSEED']) == 1\n"
        "def test_b():\n    assert random.random() == 1\n"
    )
    lab = build({"tests/test_luck.py": drawn})
    bench = lab.bench()
    assert len(bench.targets) == 2
    assert "('UTC', 'UTC'), '0')" in compress(bench.failures)


def test_a_second_run_on_the_same_tree_asks_only_the_target(build: Build) -> None:
    lab = build({**FILES, "ruff.toml": "lint.select = ['F']\n"})
    before = lab.bench(TARGET)
    assert lab.performed().count("execute") == 4, "the suite, two linters and the compiler"
    lab.begin()
    bench = lab.bench(TARGET)
    assert (bench.targets, bench.known.outcomes) == (before.targets, before.known.outcomes)
    assert "execute" not in lab.performed()
    assert lab.performed().count("execute_warm") == 3
    results = (*try_loop(lab.run, bench, FIX, False), *try_gate(lab.run, bench, FIX, False))
    assert {r.state for r in results} == {CheckState.PASS}


def test_a_check_is_remembered_for_the_repair_that_follows(build: Build) -> None:
    lab = build({**FILES, "ruff.toml": "lint.select = ['F']\n"})
    examine(lab.run, lab.project(), lab.base, Settings())
    lab.begin()
    assert lab.bench(TARGET).targets == (TARGET,)
    assert "execute" not in lab.performed()


def test_a_suite_that_has_to_say_what_fails_is_run(build: Build) -> None:
    """That the target fails is never taken from memory (D4): a suite remembered as green must not stop the run."""
    lab = build(FILES)
    lab.bench()
    lab.begin()
    _turn(lab, facts.key_of("suite", lab.project(), suite_command(_bare(lab))))
    assert lab.bench().targets == (TARGET,)


def test_a_users_command_is_never_remembered(build: Build) -> None:
    lab = build(FILES)
    checks = (CheckSpec(layer=Layer.TYPES, run=("true",), name="own"),)
    lab.bench(TARGET, checks=checks)
    examine(lab.run, lab.project(), lab.base, Settings(checks=checks))
    lab.begin()
    lab.bench(TARGET, checks=checks)
    assert lab.performed().count("execute") == 1, "nobody knows what it depends on"


def test_a_fact_of_another_shape_is_not_known(build: Build) -> None:
    lab = build(FILES)
    lab.run.perform(Remember(key="suite", text='{"report": 1}'))
    lab.run.perform(Remember(key="check", text="nonsense"))
    assert facts.known_suite(lab.run, "suite") is None
    assert facts.known_result(lab.run, "check") is None


def test_only_a_failure_shows_that_a_test_is_flaky(build: Build) -> None:
    """A rerun of the unpatched tree that skips a test, or dies before it, acquits nobody."""
    skips = "import pytest\ndef test_skips():\n    pytest.skip('not now')\n"
    dies = "import os\ndef test_dies():\n    os._exit(3)\ndef test_after():\n    pass\n"
    lab = build({**FILES, "tests/test_skips.py": skips, "tests/test_dies.py": dies})
    bench = _bare(lab)
    for test in ("tests/test_skips.py::test_skips", "tests/test_dies.py::test_after"):
        ids = ("tests/test_dies.py::test_dies", test) if "dies" in test else (test,)
        known = bench.known.model_copy(update={"outcomes": dict.fromkeys(ids, "passed")})
        again = looked_again(lab.run, bench.model_copy(update={"known": known}), FIX, broken(*ids), 10.0)
        assert (again.state, again.known) == (CheckState.FAIL, ())
    assert facts.known_flaky(lab.run, lab.tree) == ()


def test_what_is_known_as_flaky_is_not_asked_again(build: Build) -> None:
    lab = build(FILES)
    bench = _bare(lab)
    bench = bench.model_copy(update={"known": bench.known.model_copy(update={"outcomes": {LUCK: "passed"}})})
    facts.keep_flaky(lab.run, lab.tree, [LUCK])
    result = looked_again(lab.run, bench, FIX, broken(LUCK), 10.0)
    assert (result.state, [f.id for f in result.known]) == (CheckState.PASS, [LUCK])
    assert "execute_warm" not in lab.performed()


def test_a_target_that_hangs_is_not_waited_for_again_and_again(build: Build) -> None:
    slow = "def test_slow():\n    __import__('time').sleep(60)\n"
    lab = build({"mod.py": MOD, "tests/test_slow.py": TEST.replace("def test_same", f"{slow}def test_same")})
    hangs, fails = "tests/test_slow.py::test_slow", "tests/test_slow.py::test_add"
    assert lab.bench(hangs, test_seconds=1.5).targets == (hangs,)
    assert any(hangs in n and "limit for one test" in n for n in lab.notes)
    assert lab.performed().count("execute_warm") == 1, "once in the suite and once alone"
    lab.begin()
    assert {*lab.bench(test_seconds=1.5).targets} == {hangs, fails}
    assert lab.performed().count("execute_warm") == 2, "the other target is confirmed all the same"


def test_a_check_that_ends_differently_on_the_same_tree_says_so(build: Build) -> None:
    lab = build({"tests/test_luck.py": CHANCE.replace("assert os.getrandom(1)[0] % 2", "assert False")})
    key = facts.key_of("suite", lab.project(), suite_command(_bare(lab)))
    examine(lab.run, lab.project(), lab.base, Settings())
    _turn(lab, key)
    lab.begin()
    assert examine(lab.run, lab.project(), lab.base, Settings())[-1].state is CheckState.FAIL
    assert any(f"flaky: {LUCK} ended differently" in n for n in lab.notes)


def test_other_tools_or_limits_know_nothing(build: Build) -> None:
    lab = build({**FILES, "ruff.toml": "lint.select = ['F']\n"})
    lab.bench()
    lab.begin()
    lab.bench(suite_seconds=90.0)
    assert lab.performed().count("execute") == 4
    project = lab.project()
    installed = {**project.interpreter.distributions, "ruff": "999"}
    newer = project.interpreter.model_copy(update={"distributions": installed})
    project = project.model_copy(update={"interpreter": newer})
    lab.begin()
    prepare(lab.run, project, lab.base, (), Settings())
    assert lab.performed().count("execute") == 4


def test_what_is_flaky_shows_against_what_is_remembered(build: Build) -> None:
    """A recalled suite is one more observation of the same tree: it must agree with the target's runs."""
    lab = build(FILES)
    lab.bench()
    lab.begin()
    _turn(lab, facts.key_of("suite", lab.project(), suite_command(_bare(lab))))
    with pytest.raises(Exhausted, match="does not behave alike") as error:
        lab.bench(TARGET)
    assert error.value.reason is StopReason.FLAKY_CHECK
