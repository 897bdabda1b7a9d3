"""A model as an author: one proposal, at most two retries with the reason word for word, within the budget."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from referee.authors.model import ModelAuthor, Voice
from referee.domain.brief import Brief, Offer
from referee.domain.cost import Budget
from referee.domain.errors import Exhausted, Rejected
from referee.domain.proposal import PatchProposal
from referee.domain.reason import StopReason
from referee.domain.strict_json import parse
from referee.domain.task import Task
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Kind, ModelReply, ModelRequest, Price, Usage
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

FILES = {"src/a.py": b"x = 1\n", "tests/test_a.py": b"from a import x\n\n\ndef test_x():\n    assert x == 2\n"}
GOOD = {
    "analysis": "a",
    "root_cause": "r",
    "files": [{"path": "src/a.py", "action": "modify", "edits": [{"old": "x = 1", "new": "x = 2"}], "rationale": "w"}],
}


class Reciting:
    """Says its lines in order and remembers what it was asked."""

    def __init__(self, name: str, *replies: str | ModelReply, dollars: int = 0) -> None:
        self.name, self.asked = name, list[ModelRequest]()
        self._replies = [r if isinstance(r, ModelReply) else ModelReply(content=r) for r in replies]
        rate = Decimal(dollars)
        self._price = Price(input=rate, output=rate, cache_read=rate, cache_write=rate, source="t")

    def price(self) -> Price:
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        return self._replies[len(self.asked) - 1].model_copy(update={"usage": Usage(fresh_input=10, output=10)})


class Stage:
    """A run over a small repository with the given models."""

    def __init__(self, *models: Reciting, files: dict[str, bytes] = FILES) -> None:
        self.models, self.clock, self.store = models, FakeClock(), MemoryStore()
        self.workspace = FakeWorkspace(files)
        self.tree = self.workspace.snapshot("r").tree
        self.store.create("r", "{}", "now")

    def run(self, **budget: Any) -> Run:
        self.clock.advance(60)
        sandbox = FakeSandbox(lambda command: ended(0))
        world = FakeEquipment(self.workspace, sandbox, {m.name: m for m in self.models}, self.clock)
        lease = self.store.claim("r", "me", self.clock.now(), 30.0)
        shared = Shared(run_id="r", world=world, journal=Journal(self.store, lease, self.clock), store=self.store)
        return Run(shared, Budget.model_validate(budget))

    def brief(self, **more: Any) -> Brief:
        return Brief(
            task=Task(), base=self.tree, targets=("tests/test_a.py::test_x",), feedback="assert 1 == 2", **more
        )

    def notes(self) -> list[str]:
        return [json.loads(e.payload)["text"] for e in self.store.entries("r") if e.kind is Kind.NOTED]


def author(**more: Any) -> ModelAuthor:
    return ModelAuthor(Voice(**{"model": "t:one", "role": "fixer", **more}))


def propose(model: Reciting, **brief: Any) -> Offer:
    stage = Stage(model)
    return author().propose(stage.run(), stage.brief(**brief))


def test_a_valid_answer_is_the_proposal() -> None:
    model = Reciting("t:one", f"Sure!\n```json\n{json.dumps(GOOD)}\n```")
    offer = propose(model)
    assert offer.proposal == PatchProposal.model_validate(GOOD)
    assert (offer.author, offer.exhausted, offer.paid) == ("fixer t:one", False, False)
    (asked,) = model.asked
    assert (asked.role, asked.ordinal, asked.reply_name) == ("fixer", 1, "patch_proposal")
    assert "x = 1" in asked.messages[0].content


def test_a_violation_is_fed_back_word_for_word_onto_the_same_prefix() -> None:
    """E1."""
    wrong = json.dumps({**GOOD, "risk": "none"})
    model = Reciting("t:one", wrong, "no idea", json.dumps(GOOD))
    assert propose(model).proposal is not None
    first, second, third = model.asked
    assert first.system == second.system == third.system
    assert third.messages[: len(second.messages)] == second.messages
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[1].content == wrong
    with pytest.raises(Rejected) as refused:
        parse(wrong, PatchProposal)
    assert str(refused.value) in second.messages[2].content
    assert "no JSON object" in third.messages[4].content


def test_after_two_retries_the_run_ends_with_schema_failure() -> None:
    model = Reciting("t:one", "no", "no", "no", json.dumps(GOOD))
    with pytest.raises(Exhausted) as raised:
        propose(model)
    assert raised.value.reason is StopReason.SCHEMA_FAILURE
    assert "no JSON object" in str(raised.value)
    assert len(model.asked) == 3


def test_under_pressure_there_is_no_retry_and_the_cheap_model_speaks() -> None:
    """A3."""
    dear, cheap = Reciting("t:one", json.dumps(GOOD)), Reciting("t:cheap", "no", json.dumps(GOOD))
    stage = Stage(dear, cheap)
    with pytest.raises(Exhausted, match="no valid proposal"):
        author(pressed="t:cheap").propose(stage.run(), stage.brief(pressed=True))
    assert (len(dear.asked), len(cheap.asked)) == (0, 1)


def test_an_answer_that_was_cut_off_gets_more_room_once_and_says_so() -> None:
    cut = ModelReply(content='{"analysis": "a', finish="length")
    model = Reciting("t:one", cut, cut, json.dumps(GOOD))
    stage = Stage(model)
    assert author(max_tokens=1_000).propose(stage.run(), stage.brief()).proposal is not None
    assert [a.max_tokens for a in model.asked] == [1_000, 4_000, 4_000]
    assert "was cut off" in model.asked[2].messages[-1].content
    assert stage.notes() == ["fixer t:one: the reply was cut off at 1000 tokens; asked again with more room"]


def test_a_refusal_is_a_finding_and_not_a_wrong_form() -> None:
    model = Reciting("t:one", ModelReply(content="I will not.", finish="refusal", model="one"))
    offer = propose(model)
    assert offer.proposal is None
    assert "one refused to answer: I will not." in offer.findings[0].message
    assert len(model.asked) == 1


def test_an_empty_answer_is_asked_again() -> None:
    model = Reciting("t:one", ModelReply(content=" ", finish="other"), json.dumps(GOOD))
    assert propose(model).proposal is not None
    assert "the reply was empty" in model.asked[1].messages[-1].content


def test_paths_that_are_not_allowed_are_left_to_the_policy() -> None:
    """E2: refused by code at the gate and counted there, not mistaken for a wrong form here."""
    cheat = {"path": "tests/test_a.py", "action": "modify", "content": "", "rationale": "w"}
    offer = propose(Reciting("t:one", json.dumps({**GOOD, "files": [cheat]})))
    assert offer.proposal is not None
    assert offer.proposal.files[0].path == "tests/test_a.py"


def test_a_file_shown_in_part_is_not_replaced_whole() -> None:
    """Case G13."""
    large = {**FILES, "src/a.py": b"x = 1\n" + b"# filler\n" * 2_000}
    whole = {"path": "src/a.py", "action": "modify", "content": "x = 2\n", "rationale": "w"}
    model = Reciting("t:one", json.dumps({**GOOD, "files": [whole]}), json.dumps(GOOD))
    stage = Stage(model, files=large)
    offer = author().propose(stage.run(), stage.brief())
    assert offer.proposal == PatchProposal.model_validate(GOOD)
    assert "src/a.py was shown to you in part" in model.asked[1].messages[-1].content


def test_the_budget_ends_the_asking() -> None:
    model = Reciting("t:one", "no", json.dumps(GOOD), dollars=100)
    stage = Stage(model)
    with pytest.raises(Exhausted) as raised:
        author().propose(stage.run(max_cost_usd="0.5"), stage.brief())
    assert raised.value.reason is StopReason.COST_TRIPPED
    assert model.asked == []


def test_a_resumed_run_asks_nothing_twice_and_goes_on_at_the_right_ordinal() -> None:
    """A7."""
    model = Reciting("t:one", "no", json.dumps(GOOD), json.dumps({**GOOD, "risk": "low"}))
    stage = Stage(model)
    first = author().propose(stage.run(), stage.brief())
    again, run = author(), stage.run()
    assert again.propose(run, stage.brief()) == first
    assert len(model.asked) == 2
    assert again.propose(run, stage.brief(attempts=())).proposal is not None
    assert model.asked[2].ordinal == 3
