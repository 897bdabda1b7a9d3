"""A person is asked: the run leaves, an answer lets it go on, and only a genuine answer to exactly this does."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from referee.domain.cost import Budget
from referee.domain.errors import Rejected, Suspended
from referee.domain.question import NO, YES, Answer, Asking, Demand, Question, iso
from referee.kernel.action import Action, Effect
from referee.kernel.journal import Journal, check_chain
from referee.kernel.policy import Allow, Ask, Deny, Policy, rule
from referee.kernel.questions import ANSWER, answers, read_question
from referee.kernel.run import Run, Shared
from referee.ports import Entry, Kind, Signal, World
from referee.testing import (
    FakeClock,
    FakeEquipment,
    FakeSandbox,
    FakeSignatures,
    FakeWorkspace,
    MemoryStore,
    PowerLoss,
    PowerLossStore,
    ended,
)


class Send(Action[str]):
    """Reaches outside and counts it; `told` says whether it can tell later that it did."""

    name: ClassVar[str] = "send"
    effect: ClassVar[Effect] = Effect.OUTSIDE
    result_type: ClassVar[type] = str
    sent: ClassVar[list[str]] = []
    die: ClassVar[list[str]] = []  # cut off just before or just after

    what: str

    def perform(self, world: World) -> str:
        """Once."""
        if "before" in self.die:
            raise PowerLoss("before")
        self.sent.append(self.what)
        if "after" in self.die:
            raise PowerLoss("after")
        return world.consent.text if world.consent else "nobody was asked"

    def recover(self, world: World) -> str | None:
        """What is known of an earlier try."""
        return "unknown" if "before" in self.die or "after" in self.die else None


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Send.sent.clear()
    Send.die.clear()


def asking(kind: Asking = Asking.APPROVAL, **more: Any) -> Policy:
    return lambda action: Ask(kind=kind, summary="send it", shown=f"send {action!r}", seconds=1000.0, **more)


class Desk:
    """A store and a clock that outlive runs, and a person with a key."""

    def __init__(self) -> None:
        self.store, self.clock, self.person = MemoryStore(), FakeClock(), FakeSignatures()
        self.store.create("r", "{}", "t")
        self.world = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda c: ended(0)), clock=self.clock)

    def run(self, *policies: Policy, store: Any = None) -> Run:
        self.clock.advance(31)
        store = store or self.store
        lease = store.claim("r", "me", self.clock.now(), 30.0)
        journal = Journal(store, lease, self.clock)
        return Run(Shared(run_id="r", world=self.world, journal=journal, store=store, policies=policies), Budget())

    def asked(self) -> list[Question]:
        return [read_question(e) for _, e in self.store.questions() if e.kind is Kind.ASKED]

    def say(self, answer: Answer) -> bool:
        number = len(answers(self.store, self.asked()[-1])) + 1
        signal = Signal(name=f"{answer.question}/{number}", payload=answer.model_dump_json(), at=answer.at)
        return self.store.leave("r", ANSWER, signal)

    def said(self, text: str, by: str = "ann") -> bool:
        question = self.asked()[-1]
        now = iso(self.clock.now())
        return self.say(Answer(question=question.id, digest=question.digest, text=text, by=by, at=now))

    def sign(self, key: str = "") -> bool:
        return self.say(self.person.sign(self.asked()[-1], self.clock.now(), key))


def test_the_run_waits_for_a_yes_and_then_goes_on() -> None:
    desk, policy = Desk(), asking()
    for _ in range(2):  # asking again changes nothing
        with pytest.raises(Suspended, match="send it"):
            desk.run(policy).perform(Send(what="a"))
    assert len(desk.asked()) == 1 and Send.sent == []
    desk.said(YES)
    assert desk.run(policy).perform(Send(what="a")) == YES
    assert desk.run(policy).perform(Send(what="a")) == YES
    assert Send.sent == ["a"]
    assert check_chain(desk.store.entries("r")) is None


def test_a_no_is_a_rejection_that_a_replay_repeats() -> None:
    desk, policy = Desk(), asking()
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.said(NO)
    for _ in range(2):
        with pytest.raises(Rejected, match="ann said no"):
            desk.run(policy).perform(Send(what="a"))
    assert Send.sent == []


def test_words_are_what_the_action_gets() -> None:
    desk, policy = Desk(), asking(Asking.QUESTION, options=("red", "blue"))
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.clock.advance(1_000_000)  # a question stays open
    desk.said("blue")
    assert desk.run(policy).perform(Send(what="a")) == "blue"


def test_an_answer_after_the_expiry_does_not_count_and_the_question_is_asked_anew() -> None:
    desk, policy = Desk(), asking()
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.said(YES)
    desk.clock.advance(1001)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    first, second = desk.asked()
    assert first.id != second.id and Send.sent == []


def test_a_yes_in_words_is_no_signature() -> None:
    desk, policy = Desk(), asking(Asking.SIGNATURE)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.said(YES)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.sign()
    assert desk.run(policy).perform(Send(what="a")) == YES


def test_two_people_means_two_different_people() -> None:
    desk, policy = Desk(), asking(Asking.SIGNATURE, demand=Demand(persons=2))
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    for key, enough in (("ann", False), ("ann", False), ("", False), ("bob", True)):
        desk.sign(key)
        if not enough:
            with pytest.raises(Suspended):
                desk.run(policy).perform(Send(what="a"))
    assert desk.run(policy).perform(Send(what="a")) == YES


@pytest.mark.parametrize("field", ["digest", "question", "text", "signature", "by"])
def test_an_answer_that_was_changed_or_is_to_something_else_does_not_count(field: str) -> None:
    desk, policy = Desk(), asking(Asking.SIGNATURE)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    genuine = desk.person.sign(desk.asked()[-1], desk.clock.now())
    forged = genuine.model_copy(update={field: getattr(genuine, field) + "x"})
    number = Signal(name=f"{genuine.question}/1", payload=forged.model_dump_json(), at="t")
    assert desk.store.leave("r", ANSWER, number)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.sign()  # what was forged does not keep the person from answering
    assert desk.run(policy).perform(Send(what="a")) == YES


def test_a_stricter_demand_makes_an_earlier_signature_not_enough() -> None:
    desk = Desk()
    with pytest.raises(Suspended):
        desk.run(asking(Asking.SIGNATURE)).perform(Send(what="a"))
    desk.sign()
    with pytest.raises(Suspended):
        desk.run(asking(Asking.SIGNATURE, demand=Demand(ssh=True))).perform(Send(what="a"))
    assert Send.sent == []


def test_a_yes_in_words_is_not_enough_where_a_signature_is_demanded_by_now() -> None:
    desk = Desk()
    with pytest.raises(Suspended):
        desk.run(asking()).perform(Send(what="a"))
    desk.said(YES)
    with pytest.raises(Suspended):
        desk.run(asking(Asking.SIGNATURE)).perform(Send(what="a"))
    assert Send.sent == []
    desk.sign()
    assert desk.run(asking()).perform(Send(what="a")) == YES, "a signature is more than words"


def test_a_changed_question_is_asked_again() -> None:
    desk, policy = Desk(), asking()
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.said(YES)
    entry = next(e for _, e in desk.store.questions())
    changed = entry.model_copy(update={"payload": entry.payload.replace("send it", "send them")})
    _put(desk.store, entry, changed)
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    assert Send.sent == []


def _put(store: MemoryStore, old: Entry, new: Entry) -> None:
    entries = store._entries["r"]
    entries[entries.index(old)] = new


def test_losing_power_at_any_line_while_asking_never_makes_it_look_begun() -> None:
    policy, line = asking(), 0
    while True:
        line += 1
        for after in (False, True):
            desk = Desk()
            Send.sent.clear()
            failing = PowerLossStore(desk.store, at=line, after=after)
            try:
                desk.run(policy, store=failing).perform(Send(what="a"))
            except PowerLoss:
                pass
            except Suspended:
                assert line > 3
                return
            with pytest.raises(Suspended):
                desk.run(policy).perform(Send(what="a"))
            desk.said(YES)
            assert desk.run(policy).perform(Send(what="a")) == YES
            assert Send.sent == ["a"] and len(desk.asked()) == 1


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_answered_action_that_is_cut_off_is_unknown_and_never_repeated(moment: str) -> None:
    desk, policy = Desk(), asking()
    with pytest.raises(Suspended):
        desk.run(policy).perform(Send(what="a"))
    desk.said(YES)
    Send.die.append(moment)
    with pytest.raises(PowerLoss):
        desk.run(policy).perform(Send(what="a"))
    for _ in range(2):
        assert desk.run(policy).perform(Send(what="a")) == "unknown"
    assert Send.sent == ([] if moment == "before" else ["a"])


def test_of_several_rulings_a_denial_wins_then_the_strictest_question() -> None:
    action = Send(what="a")
    strict = rule([asking(), lambda a: Allow(), asking(Asking.SIGNATURE, demand=Demand(persons=2)), asking()], action)
    assert isinstance(strict, Ask)
    assert (strict.kind, strict.demand.persons) == (Asking.SIGNATURE, 2)
    assert isinstance(rule([asking(), lambda a: Deny(findings=())], action), Deny)
    assert rule([lambda a: None, lambda a: Allow()], action) is None
