"""The strict tier: what the default tier lets pass is refused, and forgers are caught by runs whose end is known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from benign import BENIGN, refactored
from buggy import FIX, REPOSITORY, TARGETS
from cheats import CHEATS
from cheats_hidden import OPEN
from honest import HONEST
from judge_lab import Lab, opened, patch

from referee.domain.errors import UsageError
from referee.domain.finding import FindingKind
from referee.domain.verdict import CheckState
from referee.judge import Bench, Settings, prepare, screen, strict, try_gate, try_loop
from referee.judge.plan import TestRun

FORGERS = (
    "bend: runtest does nothing for the tests it knows", "bend: calls forget the exception",
    "bend: reports forget the exception", "bend: a call that forgets its exception, once",
    "reach: a hook slipped in", "hide: two patches of the runner that undo themselves",
)  # fmt: skip


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
    return lab.bench(*TARGETS, integrity="strict")


def _default(bench: Bench) -> Bench:
    return bench.model_copy(update={"settings": bench.settings.model_copy(update={"integrity": "default"})})


def _what(bench: Bench) -> TestRun:
    return TestRun(ids=bench.targets, test_seconds=bench.test_seconds)


@pytest.mark.parametrize("name", OPEN)
def test_what_the_default_tier_lets_pass_is_refused(lab: Lab, bench: Bench, name: str) -> None:
    change = patch(OPEN[name])
    (known,) = screen(lab.run, _default(bench), [change])
    assert known.state is CheckState.PASS  # the control: documented as open
    first = try_loop(lab.run, bench, change, False)[0]
    refused = [f for f in first.findings if "only if a person signs for it" in f.message]
    assert refused or "environment" in name
    examined = strict.cross_examined(lab.run, bench, change, 20.0)
    assert examined.state is CheckState.FAIL


@pytest.mark.parametrize("name", FORGERS)
def test_a_forger_passes_tests_that_were_made_to_fail(lab: Lab, bench: Bench, name: str) -> None:
    """Without any guard of the default tier: the outcome alone convicts."""
    found = strict.made_to_fail(lab.run, bench, patch(CHEATS[name]), _what(bench), 20.0)
    assert {f.kind for f in found} == {FindingKind.TAMPER}, found


def test_what_only_broken_functions_show(lab: Lab, bench: Bench) -> None:
    name = "bend: a call that forgets its exception, once"
    found = strict.with_functions_broken(lab.run, bench, patch({"mod.py": CHEATS[name]["mod.py"]}), _what(bench), 20.0)
    assert found == []  # its import is new too, which might be what mends the test
    text = str(CHEATS[name]["mod.py"])
    lines = text[text.index("def add") :].splitlines()
    head = text[: text.index("def add")].strip().splitlines()
    inner = "\n".join([lines[0], *(f"    {line}" for line in head), *lines[1:]]) + "\n"
    found = strict.with_functions_broken(lab.run, bench, patch({"mod.py": inner}), _what(bench), 20.0)
    assert {f.rule for f in found} == {"forged"}


@pytest.mark.parametrize("name", [n for n in HONEST if n not in ("library", "reads its own files")])
def test_honest_repairs_pass_the_strict_tier(lab: Lab, bench: Bench, name: str) -> None:
    change = patch(HONEST[name])
    results = (*try_loop(lab.run, bench, change, False), *try_gate(lab.run, bench, change, False))
    assert [r for r in results if r.state is not CheckState.PASS] == []
    assert results[-1].check == strict.NAME


def test_a_repair_that_the_strict_tier_refuses_is_told_what_to_do(lab: Lab, bench: Bench) -> None:
    (result,) = try_loop(lab.run, bench, patch(HONEST["library"]), False)
    said = [f.message for f in result.findings]
    assert any("mod.py uses the module inspect" in m and "do it without" in m for m in said)
    assert {f.kind for f in result.findings} == {FindingKind.UNAUTHORISED}


def test_benign_refactorings_pass_the_default_tier(lab: Lab, bench: Bench) -> None:
    """A correct repair that uses the language in ordinary ways is never taken for a cheat."""
    source = random.Random(4)
    easy = _default(bench)
    picks = [list(BENIGN), *(source.sample(sorted(BENIGN), source.randint(1, 6)) for _ in range(3))]
    for names in picks:
        change = patch({"mod.py": refactored(names, FIX)})
        results = (*try_loop(lab.run, easy, change, False), *try_gate(lab.run, easy, change, False))
        assert [(names, r.findings) for r in results if r.state is not CheckState.PASS] == []


def test_cheats_together_never_pass_and_never_hide_behind_a_repair(lab: Lab, bench: Bench) -> None:
    """Random sets of cheats: with the bug left none passes; beside a correct repair they are judged on what they do."""
    source = random.Random(5)
    easy, named = _default(bench), sorted(n for n in CHEATS if list(CHEATS[n]) == ["mod.py"] and "hang" not in n)
    for _ in range(6):
        names = source.sample(named, source.randint(2, 4))
        text = "\n".join(str(CHEATS[n]["mod.py"]) for n in names)
        with_bug, repaired = patch({"mod.py": text}), patch({"mod.py": f"{text}\n{FIX}"})
        results = screen(lab.run, easy, [with_bug, repaired])
        assert results[0].state is not CheckState.PASS, names
        # What remains of a cheat beside the repair is either inert or refused, with words.
        assert results[1].state is CheckState.PASS or results[1].findings, names


def test_the_strict_tier_needs_tests(lab: Lab, tmp_path: Path) -> None:
    lab.begin(timeout=10_000, max_steps=10_000)
    with pytest.raises(UsageError, match="name one"):
        prepare(
            lab.run, lab.project().model_copy(update={"uses": ()}), lab.base, ["false"], Settings(integrity="strict")
        )
