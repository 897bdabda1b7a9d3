"""Cheats of numbers, helpers and expectations, with the control for each that shows that it works unprotected."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import table
from buggy import FIX, REPOSITORY, Files
from cheats import BY_SOURCE
from cheats_hidden import HIDE, HIDE_BY_SOURCE, OPEN
from cheats_numbers import BOTH, EXPECTED, FILE, NUMBERS
from cheats_numbers import REPOSITORY as MORE
from judge_lab import Lab, opened, patch

from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, plan, ruling, screen, try_gate, try_loop
from referee.judge.evidence import Evidence, Expected
from referee.judge.plan import TestRun
from referee.ports import Command

ALL = os.environ.get("REFEREE_CHEATS") == "all"
CONTROLS = [*HIDE, *HIDE_BY_SOURCE, *OPEN] if ALL else [*list(HIDE)[:2], *list(HIDE_BY_SOURCE)[:1], *list(OPEN)[:1]]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    root: Path = tmp_path_factory.mktemp("repository")
    sandbox = opened()
    made = Lab(root, {**REPOSITORY, **MORE}, sandbox, timeout=10_000, max_steps=10_000)
    yield made
    made.close()
    sandbox.close()


@pytest.fixture(scope="module")
def bench(lab: Lab) -> Bench:
    return lab.bench(FILE)


def _exit_code(lab: Lab, bench: Bench, files: Files, *tests: str) -> int | None:
    """What `python -m pytest` says, believed by its exit code."""
    python = bench.project.interpreter.executable
    command = Command(
        argv=(python, "-m", "pytest", "-q", *tests), base=bench.base, patch=patch(files), cwd=bench.project.root,
        env={**bench.project.env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, mounts=bench.project.mounts,
        limits=plan.limits(20.0),
    )  # fmt: skip
    return lab.equipment.sandbox.run(command).exit_code


def _judged(lab: Lab, bench: Bench, files: Files, test: str) -> CheckResult:
    """One test on the warm judge, by the inside alone."""
    change = patch(files)
    warm = lab.equipment.warm(plan.warm_command(bench.project, bench.base))
    what = TestRun(ids=(test,), test_seconds=bench.test_seconds)
    evidence = Evidence(
        check="pytest", layer=Layer.TARGET, execution=warm.run(plan.job(bench.project, change, what, 8.0)),
        expected=Expected(ids=(test,)), known=bench.known, touched=bench.touched(change),
    )  # fmt: skip
    return ruling.rule(evidence)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_and_helpers_cannot_be_bent(lab: Lab, bench: Bench, name: str) -> None:
    test, files = NUMBERS[name]
    result = _judged(lab, bench, files, f"{FILE}::{test}")
    assert FindingKind.TAMPER in {f.kind for f in result.findings}, result.findings


@pytest.mark.parametrize("name", NUMBERS if ALL else list(NUMBERS)[::3])
def test_a_plain_pytest_believes_bent_numbers(lab: Lab, bench: Bench, name: str) -> None:
    test, files = NUMBERS[name]
    assert _exit_code(lab, bench, files, f"{FILE}::{test}") == 0


@pytest.mark.parametrize("name", CONTROLS)
def test_a_plain_pytest_believes_what_hides(lab: Lab, bench: Bench, name: str) -> None:
    files = {**HIDE, **HIDE_BY_SOURCE, **OPEN}[name]
    assert _exit_code(lab, bench, files, "tests/test_mod.py") == 0


def test_expectations_that_tests_read_are_not_changed(lab: Lab, bench: Bench) -> None:
    test, files = EXPECTED
    assert _exit_code(lab, bench, files, f"{FILE}::{test}") == 0
    assert bench.known.reads == ("data/expected.json",)
    for results in (try_loop(lab.run, bench, patch(files), False), screen(lab.run, bench, [patch(files)])):
        assert [(f.kind, f.rule) for f in results[0].findings] == [(FindingKind.UNAUTHORISED, "expectation")]
    named = bench.model_copy(update={"settings": bench.settings.model_copy(update={"source": ("data", "mod.py")})})
    assert "expectation" not in {f.rule for r in try_loop(lab.run, named, patch(files), False) for f in r.findings}


def test_the_right_repair_passes(lab: Lab, bench: Bench) -> None:
    change = patch({"mod.py": FIX + BOTH})
    results = (*try_loop(lab.run, bench, change, False), *try_gate(lab.run, bench, change, False))
    assert [r for r in results if r.state is not CheckState.PASS] == []


@pytest.mark.parametrize("name", BY_SOURCE)
def test_the_search_looks_at_the_source_too(lab: Lab, bench: Bench, name: str) -> None:
    (result,) = screen(lab.run, bench, [patch(BY_SOURCE[name])])
    assert FindingKind.TAMPER in {f.kind for f in result.findings}


def test_a_clean_candidate_among_refused_ones_is_judged(lab: Lab, bench: Bench) -> None:
    refused, right = patch(next(iter(BY_SOURCE.values()))), patch({"mod.py": FIX + BOTH})
    states = [r.state for r in screen(lab.run, bench, [refused, right, refused])]
    assert states == [CheckState.FAIL, CheckState.PASS, CheckState.FAIL]


def test_the_page_of_cheats_is_what_is_tried() -> None:
    assert table.PAGE.read_text() == table.page()
    assert table.page().count("\n| ") >= 60
    assert table.page().count("**passes**") == len(OPEN) + 1  # and its explanation
