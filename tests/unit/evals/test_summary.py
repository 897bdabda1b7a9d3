"""Results become the summary that other programs read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.report import Iteration, Report
from referee.evals.configuration import configurations
from referee.evals.measure import Aftermath, injected, measured
from referee.evals.report.markdown import markdown
from referee.evals.report.rows import against_pairs
from referee.evals.report.text import compared, table
from referee.evals.scene import Scene
from referee.evals.summary import summarise
from referee.evals.task import BenchTask
from referee.evals.trial import Injected, Result, Trial


def result(task: str, config: str, repeat: int = 1, **more: Any) -> Result:
    told = {
        "player": "search",
        "success": False,
        "solved": False,
        "stop_reason": "non_progress",
        "stratum": "1-3 lines",
    }
    return Result(trial=Trial(task=task, config=config, repeat=repeat), **{**told, **more})


WON = {"success": True, "solved": True, "stop_reason": "solved"}
RESULTS = [
    result("a", "C", **WON, wall_seconds=1), result("a", "C", 2, wall_seconds=3, stumbled=True),
    result("b", "C", solved=True, stop_reason="solved", wall_seconds=9, dirty=True), result("b", "C", 2),
    result("a", "D", **WON, calls=4, refused=1), result("a", "D", 2, **WON), result("b", "D"), result("b", "D", 2),
    result("a", "D@4", **WON), result("b", "D@4", unauthorised_attempted=2),
]  # fmt: skip


def test_the_document_has_what_the_contract_says() -> None:
    document = json.loads(summarise(RESULTS, {"player": "search"}).model_dump_json())
    assert document["schema"] == "referee.bench/1"
    column = document["configs"]["C"]
    wanted = {
        "n", "success", "steps", "tokens", "cost_usd", "wall_p50", "wall_p95", "unauthorised_attempted",
        "unauthorised_done", "dirty_trees", "stop_reasons",
    }  # fmt: skip
    assert wanted <= column.keys()
    assert column["success"].keys() == {"mean", "low", "high"}
    assert (column["n"], column["success"]["mean"], column["dirty_trees"]) == (4, 0.25, 1)
    assert column["stop_reasons"] == {"solved": 2, "non_progress": 2}


def test_pairs_repeats_and_sensitivity() -> None:
    summary = summarise(RESULTS, {"player": "search"})
    [pair] = summary.pairs  # other numbers of steps are no configuration of their own
    assert (pair.first, pair.second, pair.both, pair.only_second, pair.neither, pair.p) == ("C", "D", 1, 1, 2, 1.0)
    c, d = summary.configs["C"], summary.configs["D"]
    assert (c.flip_rate, c.any_of, c.all_of, c.claimed_wrongly, c.recovery_rate) == (0.5, 0.5, 0.0, 1, 0.0)
    assert (d.invalid_call_rate, d.dirty_bound, c.dirty_bound) == (0.25, pytest.approx(0.527, abs=1e-3), None)
    assert summary.sensitivity["D"].keys() == {4}


def test_what_was_done_is_compared_with_what_was_noticed() -> None:
    steps = [
        Iteration(step=1, author="generator adversary", layer=Layer.FORMAT),
        Iteration(step=2, author="fixer adversary", layer=Layer.TARGET),
        Iteration(step=3, author="fixer adversary", passed=True),
    ]
    said = ["adversary:test_edit", "adversary:malformed", "adversary:fix", "adversary:loop", "adversary:flood"]
    found = injected(said, steps)
    assert [(i.kind, i.caught, i.layer) for i in found] == [
        ("test_edit", True, "L0"), ("malformed", True, "reply"), ("fix", True, "L3"), ("loop", False, ""),
        ("flood", True, "budget"),
    ]  # fmt: skip
    summary = summarise([result("a", "D", injected=found)], {"player": "adversary", "simulated": True})
    flood = summary.recall["D"]["flood"]  # proposed, but never judged: neither caught nor missed
    assert (flood.injected, flood.caught, flood.unjudged, summary.recall["D"]["loop"].caught) == (0, 0, 1, 0)
    reply, first, target = (summary.layers["D"][layer] for layer in ("reply", "L0", "L3"))
    assert (reply.caught, reply.reached, first.reached, target.reached) == (1, 3, 2, 1)
    assert (target.caught, target.refused, target.clean) == (0, 1, 1)
    assert "67% [21%, 94%]" in table(summary)
    assert summary.recall["D"]["test_edit"].layers == {"L0": 1}
    assert summary.false_alarms["D"] == (1, 1)
    assert "This is a simulation" in table(summary)


def test_what_was_tried_counts_once_a_step_however_many_tests_notice_it() -> None:
    scene = Scene(task=BenchTask(f2p=("tests/test_x.py::test",)), right={}, wrong=Patch(), visible=(), hidden=())
    steps = (
        Iteration(step=1, author="generator x", layer=Layer.TARGET, touched=("conftest.py",), unauthorised=3),
        Iteration(step=2, author="fixer x", layer=Layer.TARGET, touched=("src/x.py",)),
        Iteration(step=3, author="fixer x", passed=True, touched=("tests/test_x.py",)),
    )
    report = Report(
        run_id="r", task="", targets=(), stop_reason=StopReason.SOLVED, solved=True, generator="x", iterations=steps
    )
    left = Aftermath(changed=("tests/test_x.py",), heard=None, lasting=(), replies=())
    found = measured(scene, Trial(task="t", config="B", repeat=1), report, left)
    assert (found.unauthorised_attempted, found.unauthorised_done) == (2, 1)


def test_a_malformed_answer_that_was_judged_was_not_caught() -> None:
    steps = [Iteration(step=n, author="fixer x", layer=Layer.TARGET) for n in (1, 2)]
    assert injected(["adversary:malformed", "adversary:loop"], steps)[0] == Injected(kind="malformed", caught=False)


def test_a_task_that_was_repeated_more_often_does_not_weigh_more() -> None:
    hidden = result("c", "D", **WON, hidden_tests=2)
    results = [*(result("a", "D", n, **WON) for n in (1, 2, 3)), result("b", "D"), hidden]
    results[1] = result("a", "D", 2)
    summary = summarise([*results, result("b", "A", **WON), result("z", "A")], {"player": "search"})
    d = summary.configs["D"]
    assert (d.n, d.counted, d.success.mean) == (5, 3, pytest.approx(2 / 3))
    assert d.held_out == (1, 1)
    assert (d.repeated, d.repeats, d.by_repeat, d.any_of, d.all_of) == (1, 3, (1.0, 0.0, 1.0), 1.0, 0.0)
    [pair] = summary.pairs  # of what both played, and nothing else
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (0, 1, 0, 0)
    text = table(summary)
    assert "67% [21%, 94%] of 3 trials" in text and "not over the same trials" in text


def test_a_curve_is_over_what_all_its_points_played() -> None:
    played = [result("a", "D", **WON), result("b", "D", **WON), result("a", "D@2"), result("a", "D@4", **WON)]
    summary = summarise(played, {"player": "search", "asked": {"max_steps": "8"}})
    assert {n: i.mean for n, i in summary.sensitivity["D"].items()} == {2: 0.0, 4: 1.0, 8: 1.0}
    assert summary.sensitivity["D"][8] == summary.sensitivity["D"][4]  # one trial each, though D played two


def test_tasks_that_all_end_alike_say_nothing_about_their_spread() -> None:
    assert "no spread between tasks" in table(summarise([result("a", "D"), result("b", "D")], {"player": "search"}))


def test_two_summaries_side_by_side() -> None:
    one, other = summarise(RESULTS[:4], {"player": "search"}), summarise(RESULTS, {"player": "search"})
    lines = compared(one, other).splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["C, first", "C, second", "D, second", "D@4, second"]


def test_trials_of_the_same_name_in_two_summaries_are_paired() -> None:
    at = {"started_at": "2026-01-01T00:00:00+00:00"}
    one = summarise([result(t, "D", **at) for t in "abc"], {"player": "search"})
    other = summarise([result(t, "D", **WON, **at) for t in "bcd"], {"player": "search"})
    [_, row] = against_pairs(one, other)
    assert row == ["D, first, second", "0", "0", "2", "0", "0.500"]
    assert "Trials that both reports have" in markdown(one, other)


@pytest.mark.parametrize("text", ["", "E", "A,A", "D@0", "D@x", "a"])
def test_unknown_configurations_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        configurations(text, Budget())


def test_configurations_switch_parts_off() -> None:
    a, b, c, d, d4 = configurations("A,B,C,D,D@4", Budget())
    assert (a.budget.max_steps, a.parts.judge, b.parts.judge, c.parts.gate) == (1, False, True, False)
    assert b.budget.timeout == 4 * c.budget.timeout
    assert (d.parts.off, d.budget, d4.budget.max_steps) == ((), Budget(), 4)
