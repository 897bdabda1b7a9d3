"""What a model is told: everything it needs, in four thousand characters at most (D5, case F10)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from failures import CASES, PRODUCT
from judge_lab import OWN, Lab, opened, patch
from outputs import REPORTS
from outputs_unknown import UNKNOWN

from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult, CheckState, fingerprint
from referee.judge import compress, detect, plan, ruling, stream
from referee.judge.checks import CommandCheck
from referee.judge.checks.command import READER_NAMES
from referee.judge.evidence import Evidence, Known
from referee.judge.expect import expectation
from referee.judge.normal import decode
from referee.judge.plan import TestRun
from referee.testing import ended

FILE = "tests/test_case.py"


class Runner:
    """Runs one failing module at a time, warm."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.project = lab, lab.project()
        self.base = lab.base.model_copy(update={"protected": ()})  # each run brings its own test module
        self.seen: dict[str, CheckResult] = {}
        self.raw: dict[str, str] = {}  # what pytest itself wrote, for the benchmark

    def result(self, text: str) -> CheckResult:
        if text not in self.seen:
            what = TestRun(ids=(FILE,), test_seconds=3.0)
            warm = self.lab.equipment.warm(plan.warm_command(self.project, self.base))
            job = plan.job(self.project, patch({FILE: text}), what, 30.0)
            execution = warm.run(job)
            self.raw[text] = decode(execution.stdout) + decode(execution.stderr) + f"exit code {execution.exit_code}"
            report = stream.read(execution.channel, execution.key)
            expected, _ = expectation(report, (FILE,), lambda p: text.encode("utf-8", "surrogatepass"))
            evidence = Evidence(
                check="pytest", layer=Layer.TARGET, execution=execution, expected=expected,
                known=Known(tampering=report.tampering, plugins=report.plugins),
            )  # fmt: skip
            self.seen[text] = ruling.rule(evidence, report)
        return self.seen[text]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    sandbox = opened()
    root: Path = tmp_path_factory.mktemp("failures")
    lab = Lab(root, {**PRODUCT, "tests/test_case.py": "def test(): pass\n"}, sandbox, timeout=10_000)
    yield Runner(lab)
    lab.close()
    sandbox.close()


def lost(facts: tuple[str, ...], told: str) -> list[str]:
    return [f for f in facts if not any(way in told for way in f.split("|"))]


def told_of(name: str) -> tuple[CheckResult, tuple[str, ...]]:
    """What the check of a case from a tool's output says, and the facts that must be told."""
    reader, out, err, code, facts = REPORTS[name] if name in REPORTS else ("exit", *UNKNOWN[name])
    project = detect("/repo", ["a.py"], {"a.py": b""}.get, interpreter=OWN)
    check = CommandCheck(name="tool", layer=Layer.TARGET, project=project, run=("tool",), reader=reader)
    return check.read(ended(code, out.encode(), err.encode())), facts


def sound(told: str) -> None:
    assert len(told) <= 4_000
    assert "\x1b" not in told
    assert "\x00" not in told
    told.encode("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_no_fact_is_lost(runner: Runner, name: str) -> None:
    text, facts = CASES[name]
    result = runner.result(text)
    told = compress([result])
    assert result.state is CheckState.FAIL
    assert lost(facts, told) == [], told
    sound(told)


@pytest.mark.parametrize("name", [*REPORTS, *UNKNOWN])
def test_no_fact_of_another_tool_is_lost(name: str) -> None:
    result, facts = told_of(name)
    told = compress([result])
    assert not result.clear
    assert lost(facts, told) == [], told
    sound(told)


def test_the_corpus_has_every_reader() -> None:
    assert len(CASES) + len(REPORTS) + len(UNKNOWN) >= 60
    assert {r for r, *_ in REPORTS.values()} | {"exit"} == READER_NAMES


def test_the_mean_is_small(runner: Runner) -> None:
    results = [runner.result(text) for text, _ in CASES.values()]
    results += [told_of(name)[0] for name in (*REPORTS, *UNKNOWN)]
    assert statistics.mean(len(compress([r])) for r in results) <= 1_200


def _print(runner: Runner, text: str) -> str:
    return fingerprint(runner.result(text).findings)


def test_a_changed_value_is_progress_and_a_changed_address_is_not(runner: Runner) -> None:
    """A4: what was observed counts; where and when it happened does not."""
    value = "def test():\n    assert {0} == 5\n"
    assert _print(runner, value.format(3)) != _print(runner, value.format(4))
    moved = "# one line more\n" + value.format(3)
    assert _print(runner, value.format(3)) == _print(runner, moved)
    told = "def test():\n    raise OSError('took {0} s at {1} in /tmp/{2}/x, line {3}')\n"
    once, again = told.format("0.53", "0x7f12ab34", "a1", 12), told.format("0.61", "0x7f99cd00", "b2", 40)
    assert _print(runner, once) == _print(runner, again)
    assert _print(runner, once) != _print(runner, once.replace("took", "lost"))


def test_the_second_assertion_of_a_test_is_progress(runner: Runner) -> None:
    first = "def test():\n    assert 1 == 2\n    assert 'a' == 'b'\n"
    assert _print(runner, first) != _print(runner, first.replace("1 == 2", "2 == 2"))


def test_nothing_is_told_of_what_passed() -> None:
    assert compress([CheckResult(check="x", layer=Layer.FORMAT, state=CheckState.PASS)]) == ""


def test_not_run_is_told_as_not_run() -> None:
    """Case H14: a check that could not say is no pass and no failure of the code."""
    told = compress([CheckResult(check="mypy", layer=Layer.TYPES, state=CheckState.NOT_RUN, note="mypy is missing")])
    assert "not run" in told
    assert "mypy is missing" in told


def test_tampering_comes_first() -> None:
    found = (
        Finding(check="pytest", id="t", phase="call", message="assert 1 == 2", cause="a"),
        Finding(kind=FindingKind.TAMPER, check="pytest", id="mod.py", message="reads its caller", cause="b"),
    )
    told = compress([CheckResult(check="pytest", layer=Layer.TARGET, state=CheckState.FAIL, findings=found)])
    assert told.index("TAMPER") < told.index("assert 1 == 2")


@pytest.mark.parametrize("cap", [400, 1_000, 4_000])
def test_the_cap_is_hard(cap: int) -> None:
    found = tuple(
        Finding(check="c", id=f"i{n}", phase="call", message="m" * 900, cause=f"{n}", detail=("d" * 900,) * 9)
        for n in range(30)
    )
    told = compress([CheckResult(check="c", layer=Layer.TARGET, state=CheckState.FAIL, findings=found)], cap)
    assert len(told) <= cap
