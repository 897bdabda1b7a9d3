"""Several candidates at once (J4): the first to pass wins, the rest is withdrawn and charged what it used."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.actions.call_model import CallModel
from referee.actions.step import ChargeStep
from referee.config import load
from referee.domain.brief import Offer
from referee.domain.cost import Budget
from referee.domain.errors import Exhausted, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.domain.verdict import Verdict
from referee.flows.attempt import Attempt
from referee.flows.race import Tried, race
from referee.kernel.journal import Journal, check_chain
from referee.kernel.run import Run, Shared
from referee.ports import Kind, Message, ModelReply, ModelRequest, Price, Usage
from referee.testing import FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

WAITING = small.TESTS.replace("def test_add():\n", "def test_add():\n    import time\n\n    time.sleep({})\n")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small.build(tmp_path / "repo")


def play(repo: Path, *replies: dict[str, Any], candidates: int = 3, **flags: Any) -> Outcome:
    """Candidate n of the first round gets reply n, and so on from round to round."""
    script = repo.parent / "script.jsonl"
    roles = ["generator"] * candidates + ["fixer"] * max(1, len(replies) - candidates)
    said = [*replies, *([replies[-1]] if len(replies) == candidates else [])]
    lines = [{"role": r, "content": json.dumps(t), "input_tokens": 100} for r, t in zip(roles, said, strict=True)]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = {"generator": "model", "models.default": f"scripted:{script}", "candidates": candidates, **flags}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), text="add is wrong", targets=(small.TARGET,)), config)


def wrong(n: int) -> dict[str, Any]:
    return small.content(small.BUGGY.replace("a - b", f"a - b + {n}"))


def test_one_right_candidate_among_wrong_ones_lands(repo: Path) -> None:
    outcome = play(repo, wrong(0), small.proposal(), wrong(2))
    assert outcome.solved
    assert (repo / "calc.py").read_text() == small.FIXED
    assert outcome.report.iterations[-1].passed
    run_id = outcome.report.run_id
    entries = api.journal(run_id, str(repo))
    assert check_chain(entries) is None
    assert any(e.action == "elect" for e in entries)
    assert {e.key.partition("/")[0] for e in entries if e.action == "call_model"} >= {"round1.1", "round1.2"}


def test_what_none_of_them_solves_the_next_round_builds_on(repo: Path) -> None:
    right = small.content(small.FIXED)
    outcome = play(repo, wrong(0), wrong(1), wrong(2), right, right, right)
    assert outcome.solved
    assert [i.passed for i in outcome.report.iterations[:3]] == [False] * 3
    assert outcome.report.steps >= 4, "every candidate is a step"


def test_a_run_that_ended_in_a_race_is_resumed_without_paying_again(repo: Path) -> None:
    first = play(repo, wrong(0), wrong(1), wrong(2), small.content(small.FIXED), **{"budget.max_steps": 3})
    assert first.stop_reason is StopReason.STEPS_EXHAUSTED
    assert first.report.tokens == 300
    again = api.resume(first.report.run_id, str(repo), {"max_steps": 12})
    assert again.solved
    calls = [e for e in api.journal(first.report.run_id, str(repo)) if e.key.startswith("round1.")]
    assert len([e for e in calls if e.action == "call_model" and e.kind is Kind.ENDED]) == 3


def test_with_half_of_the_budget_spent_it_is_one_at_a_time(repo: Path) -> None:
    outcome = play(repo, wrong(0), wrong(1), small.content(small.FIXED), candidates=2, **{"budget.max_steps": 4})
    assert outcome.solved
    assert outcome.report.steps == 3
    assert any("one candidate at a time" in note for note in outcome.report.notes)


def test_no_more_propose_than_there_are_steps_left(repo: Path) -> None:
    outcome = play(repo, wrong(0), wrong(1), wrong(2), **{"budget.max_steps": 2})
    assert (outcome.stop_reason, outcome.report.steps) == (StopReason.STEPS_EXHAUSTED, 2)
    assert outcome.report.tokens == 200, "the third was not asked for what could not be judged"


@pytest.mark.slow
def test_three_cost_hardly_more_time_than_one_when_the_target_mostly_waits(repo: Path) -> None:
    """At most 1.3 times; the control is the same repair with one candidate."""
    (repo / "tests/test_calc.py").write_text(WAITING.format(2))
    took = []
    for candidates in (1, 3):
        began = time.monotonic()
        fixed = play(repo, *([small.proposal()] * candidates), candidates=candidates, land="none")
        took.append(time.monotonic() - began)
        assert fixed.solved
    assert took[1] <= 1.3 * took[0], took


# --- the race itself, over fakes ---------------------------------------------------------------------------

RATE = Decimal(1_000)
PRICE = Price(input=RATE, output=RATE, cache_read=RATE, cache_write=RATE, source="t")
ASK = ModelRequest(role="generator", system="s", messages=(Message(role="user", content="u"),), max_tokens=100)


class Slow:
    """A model that answers when it is let."""

    name = "t:slow"

    def __init__(self) -> None:
        self.asked, self.let = threading.Semaphore(0), threading.Event()
        self.calls = 0

    def price(self) -> Price:
        return PRICE

    def call(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        self.asked.release()
        self.let.wait(30)
        return ModelReply(content="{}", usage=Usage(fresh_input=1, output=1))


class Track:
    """A store on which a run can be begun again."""

    def __init__(self) -> None:
        self.model, self.store = Slow(), MemoryStore()
        self.store.create("r", "{}", "now")
        self.now = 0.0

    def run(self) -> Run:
        equipment = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda command: ended(0)), {"t:slow": self.model})
        self.now += 100.0
        lease = self.store.claim("r", "me", self.now, 30.0)
        shared = Shared(
            run_id="r", world=equipment, journal=Journal(self.store, lease, equipment.clock), store=self.store
        )
        return Run(shared, Budget(max_steps=10, max_cost_usd=Decimal(10)))

    def quick(self, run: Run) -> Tried:
        """Waits until the others are in the middle of their call, and passes."""
        run.perform(ChargeStep(author="quick"))
        if not self.model.let.is_set():
            self.model.asked.acquire(timeout=30)
        return self._tried(True)

    def slow(self, run: Run) -> Tried:
        run.perform(CallModel(model="t:slow", request=ASK))
        return self._tried(False)

    def _tried(self, passed: bool) -> Tried:
        verdict = Verdict(author="a", proposed=True, passed=passed)
        return Tried(offer=Offer(author="a"), attempt=Attempt(verdict=verdict))


def test_who_is_withdrawn_is_not_waited_for_and_charged_what_the_call_may_cost() -> None:
    track = Track()
    run = track.run()
    estimate = CallModel(model="t:slow", request=ASK).estimate(run._bounded).usd
    began = time.monotonic()
    (winner,) = race(run, "round1", [track.slow, track.quick])
    assert winner.attempt.verdict.passed
    assert time.monotonic() - began < 10
    spent = run.view.spent
    assert (spent.steps, spent.usd) == (1, estimate)
    track.model.let.set()
    time.sleep(0.2)  # the call comes back; nothing of it is recorded or charged a second time
    assert run.view.spent.usd == estimate
    ends = [e.key for e in track.store.entries("r") if e.kind is Kind.ENDED]
    assert not any("call_model" in key for key in ends)
    again = track.run()
    (same,) = race(again, "round1", [track.slow, track.quick])
    assert same.attempt.verdict.passed
    assert track.model.calls == 1, "a replay begins nothing that was withdrawn"
    assert again.view.spent.usd == estimate


def test_what_is_nobodys_fault_but_the_users_ends_the_race() -> None:
    track = Track()

    def broken(run: Run) -> Tried:
        raise UsageError("no key")

    with pytest.raises(UsageError, match="no key"):
        race(track.run(), "round1", [broken, track.slow])
    track.model.let.set()


def test_a_race_that_the_budget_lets_nobody_finish_is_the_budgets_end() -> None:
    track = Track()

    def spent(run: Run) -> Tried:
        raise Exhausted(StopReason.COST_TRIPPED, "no more")

    with pytest.raises(Exhausted) as raised:
        race(track.run(), "round1", [spent, spent])
    assert raised.value.reason is StopReason.COST_TRIPPED
    first, second = race(track.run(), "round2", [_failing, spent, _failing])
    assert not first.attempt.verdict.passed and not second.attempt.verdict.passed


def _failing(run: Run) -> Tried:
    return Tried(offer=Offer(author="a"), attempt=Attempt(verdict=Verdict(author="a", proposed=True, passed=False)))
