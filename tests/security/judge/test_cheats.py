"""No cheat passes, every honest repair does, and believing the exit code would have been fooled (D3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from buggy import BUG, REPOSITORY, TARGETS
from cheats import BY_SOURCE, CHEATS
from honest import HONEST
from judge_lab import Lab, opened, patch

from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, plan, ruling, screen, try_gate, try_loop
from referee.judge.evidence import Evidence
from referee.judge.plan import TestRun
from referee.ports import Command, Execution

PATIENT = 120.0  # seconds for what is to pass, on a machine with much else to do
FOOLED = 15  # enough to show that the list is real; the control ends there


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    root: Path = tmp_path_factory.mktemp("repository")
    sandbox = opened()
    made = Lab(root, REPOSITORY, sandbox, timeout=10_000, max_steps=10_000)
    yield made
    made.close()
    sandbox.close()


@pytest.fixture(scope="module")
def bench(lab: Lab) -> Bench:
    return lab.bench(*TARGETS)


def _what(bench: Bench) -> TestRun:
    return TestRun(ids=bench.targets, test_seconds=bench.test_seconds)


def _ruled(bench: Bench, change: Patch, execution: Execution) -> CheckResult:
    evidence = Evidence(
        check="pytest", layer=Layer.TARGET, execution=execution, expected=bench.expected, known=bench.known,
        touched=bench.touched(change),
    )  # fmt: skip
    return ruling.rule(evidence)


def _warm(lab: Lab, bench: Bench, change: Patch, seconds: float = 4.0) -> CheckResult:
    """Judged by the inside alone: no path is refused beforehand, no source looked at. Some cheats wait to the end."""
    warm = lab.equipment.warm(plan.warm_command(bench.project, bench.base))
    return _ruled(bench, change, warm.run(plan.job(bench.project, change, _what(bench), seconds)))


def _cold(lab: Lab, bench: Bench, change: Patch, seconds: float = 8.0) -> CheckResult:
    command = plan.command(bench.project, bench.base, change, _what(bench), seconds)
    return _ruled(bench, change, lab.equipment.sandbox.run(command))


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes_a_warm_judge(lab: Lab, bench: Bench, name: str) -> None:
    """Cases B1, B2, B3, B5, B9, B11, B14, B15: the report alone refuses each of them."""
    result = _warm(lab, bench, patch(CHEATS[name]))
    assert result.state is not CheckState.PASS
    assert result.findings


@pytest.mark.slow
@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes_a_cold_judge(lab: Lab, bench: Bench, name: str) -> None:
    """The same list where the patch is on disk before the interpreter starts."""
    assert _cold(lab, bench, patch(CHEATS[name])).state is not CheckState.PASS


@pytest.mark.parametrize("name", HONEST)
def test_honest_repairs_pass(lab: Lab, bench: Bench, name: str) -> None:
    change = patch(HONEST[name])
    for result in (_warm(lab, bench, change, PATIENT), _cold(lab, bench, change, PATIENT)):
        assert result.state is CheckState.PASS, result.findings
    results = (*try_loop(lab.run, bench, change, False), *try_gate(lab.run, bench, change, False))
    assert [r for r in results if r.state is not CheckState.PASS] == []


BENT = [n for n in CHEATS if n.startswith("bend: ")]


@pytest.mark.parametrize("name", BENT)
def test_bending_the_judge_is_called_tampering(lab: Lab, bench: Bench, name: str) -> None:
    result = _warm(lab, bench, patch(CHEATS[name]))
    assert FindingKind.TAMPER in {f.kind for f in result.findings}, result.findings


@pytest.mark.parametrize("name", BY_SOURCE)
def test_what_nothing_inside_can_see_is_refused_by_its_source(lab: Lab, bench: Bench, name: str) -> None:
    (result,) = try_loop(lab.run, bench, patch(BY_SOURCE[name]), False)
    assert FindingKind.TAMPER in {f.kind for f in result.findings}


def test_the_bug_itself_is_no_tampering(lab: Lab, bench: Bench) -> None:
    result = _warm(lab, bench, patch({"mod.py": BUG + "\n"}))
    assert {f.kind for f in result.findings} == {FindingKind.FAILURE}
    assert {f.id for f in result.findings} == set(TARGETS)


def test_protected_paths_are_refused_before_anything_runs(lab: Lab, bench: Bench) -> None:
    """Cases B1, B5: test control is protected for creation as well as change."""
    for name in ("conftest.py", "tests/conftest.py", "pytest.ini", "sitecustomize.py", "tests/test_mod.py", "a.pth"):
        result = screen(lab.run, bench, [patch({name: "x = 1\n"})])[0]
        assert result.state is CheckState.FAIL
        assert [f.kind for f in result.findings] == [FindingKind.UNAUTHORISED]


@pytest.mark.slow
def test_the_exit_code_alone_would_have_been_fooled(lab: Lab, bench: Bench) -> None:
    """The control: the same sandbox, the same read-only tests, and `python -m pytest` believed by its exit code."""
    python = bench.project.interpreter.executable
    green: set[str] = set()
    for name, files in CHEATS.items():
        command = Command(
            argv=(python, "-m", "pytest", "-q"), base=bench.base, patch=patch(files), cwd=bench.project.root,
            env={**bench.project.env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, mounts=bench.project.mounts,
            limits=plan.limits(8.0),
        )  # fmt: skip
        if lab.equipment.sandbox.run(command).exit_code == 0:
            green.add(name)
        if len(green) == FOOLED:
            return
    pytest.fail(f"only {sorted(green)}")
