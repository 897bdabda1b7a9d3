"""Propose, sign, refuse, send, crash, resume, replay, expire and tamper, in any order.

Nothing unsigned is sent, nothing is sent twice, and no answer is lost.

REFEREE_INTERLEAVINGS is how many random orders are played (10,000 was the bar; the gate plays a few hundred), and a
hundredth of that is played with real processes that are killed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.actions.outside import CallOutside
from referee.adapters.store import RecordedStore, SqliteStore
from referee.domain.cost import Budget
from referee.domain.errors import Diverged, Rejected, Suspended, Unrecorded, WorldFault
from referee.domain.outside import Described, Proposal, Receipt, Request, Risk
from referee.domain.question import NO, YES, Answer, Question, iso
from referee.kernel.journal import Journal, check_chain
from referee.kernel.questions import ANSWER, answers, read_question
from referee.kernel.run import Run, Shared
from referee.policy import Outgoing, sign_outside
from referee.ports import Kind, Signal, Store
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

ORDERS = int(os.environ.get("REFEREE_INTERLEAVINGS", "300"))
KILLS = max(3, ORDERS // 100)
MINUTE = 60.0
PROPOSALS = tuple(
    Proposal(request=Request(tool="bell", arguments={"n": n}), key=f"key-{n}", requester="ann") for n in range(3)
)


class Bell:
    """An outside system that counts how often it was rung, by key; it can be cut off before or after it rings."""

    def __init__(self, ring: Callable[[str], None], now: Callable[[], float]) -> None:
        self._ring, self._now, self.fault = ring, now, ""

    def describe(self, arguments: Mapping[str, Any]) -> Described:
        """In words."""
        n = str(arguments["n"])
        return Described(risk=Risk.IRREVERSIBLE, summary=f"ring {n}", detail=f"bell {n}", impact="it is heard")

    def call(self, arguments: Mapping[str, Any], key: str, seconds: float, *, signed: bool) -> Receipt:
        """Ring."""
        if self.fault == "before":
            raise PowerLoss("before")
        self._ring(key)
        if self.fault == "after":
            raise PowerLoss("after")
        return Receipt(status="done", said="it rang")

    def look(self, arguments: Mapping[str, Any], key: str) -> Receipt | None:
        """Nobody remembers."""
        return Receipt(status="unknown", said="cut off", check="ask who heard it")


def flow(run: Run) -> list[str]:
    """One proposal after the other; what became of each."""
    told = []
    for proposal in PROPOSALS:
        try:
            told.append(run.perform(CallOutside(proposal=proposal, tree="t")).status)
        except Rejected:
            told.append("refused")
    return told


def run_on(store: Any, world: FakeEquipment, *, recorded_only: bool = False) -> Run:
    """What the program does when a run is begun or resumed."""
    lease = store.claim("r", "me", world.clock.now(), 30.0)
    journal = Journal(store, lease, world.clock)
    record = store.run("r")
    journal.check(record.head)
    if not recorded_only:
        journal.note(f"run:{lease.fence}", Kind.OPENED, {"elapsed": journal.elapsed})
    policy = sign_outside(Outgoing(seconds=30 * MINUTE), world.outside)
    shared = Shared(
        run_id="r", world=world, journal=journal, store=store, policies=(policy,), recorded_only=recorded_only
    )
    return Run(shared, Budget(timeout=604_800))


class Play:
    """One random order of events, with everything that must hold checked as it happens."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.store, self.clock, self.person = MemoryStore(), FakeClock(), FakeSignatures()
        self.store.create("r", "{}", "t")
        self.world = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda c: ended(0)), clock=self.clock)
        self.rung: list[str] = []
        self.bell = Bell(self._heard, self.clock.now)
        self.world.tools["bell"] = self.bell
        self.signed: dict[str, list[Question]] = {}  # by the digest of the action
        self.given = 0
        self.tampered = False
        self.actions = {p.key: CallOutside(proposal=p, tree="t").digest for p in PROPOSALS}

    def _heard(self, key: str) -> None:
        questions = self.signed.get(self.actions[key], [])
        assert any(not q.expired(self.clock.now()) for q in questions), f"{key} was sent unsigned"
        assert key not in self.rung, f"{key} was sent twice"
        self.rung.append(key)

    def questions(self) -> list[Question]:
        return [read_question(e) for _, e in self.store.questions() if e.kind is Kind.ASKED]

    # --- events ------------------------------------------------------------------------------------------------

    def resume(self) -> None:
        self.clock.advance(31)
        store: Any = self.store
        if self.chance.random() < 0.5:
            after, forgetful = self.chance.random() < 0.5, self.chance.random() < 0.3
            store = PowerLossStore(store, at=self.chance.randrange(1, 9), after=after, forgetful=forgetful)
        self.bell.fault = self.chance.choice(["", "", "", "before", "after"])
        try:
            flow(run_on(store, self.world))
        except (PowerLoss, Suspended):
            pass
        except (WorldFault, Diverged):
            assert self.tampered
        finally:
            self.bell.fault = ""

    def sign(self) -> None:
        if not (asked := self.questions()):
            return
        question = asked[-1] if self.chance.random() < 0.8 else self.chance.choice(asked)
        self._leave(self.person.sign(question, self.clock.now()))
        self.signed.setdefault(question.action_digest, []).append(question)

    def refuse(self) -> None:
        if (asked := self.questions()) and self.chance.random() < 0.3:
            self._leave(self._said(asked[-1], NO))

    def forge(self) -> None:
        """Answers that no person gave: said and not signed, signed for something else, or with a byte changed."""
        asked = self.questions()
        if not asked:
            return
        question = self.chance.choice(asked)
        other = question.model_copy(update={"summary": "ring nothing"}).sealed()
        forged = [
            self._said(question, YES),
            self._said(question, YES).model_copy(update={"how": "local"}),
            self.person.sign(other, 0.0).model_copy(update={"digest": question.digest}),
            self.person.sign(question, 0.0).model_copy(update={"signature": "x"}),
            self.person.sign(other, 0.0),
        ]
        self._leave(self.chance.choice(forged))

    def wait(self) -> None:
        self.clock.advance(self.chance.choice([MINUTE, 10 * MINUTE, 40 * MINUTE]))

    def replay(self) -> None:
        record = self.store.run("r")
        assert record is not None
        before = list(self.rung), self.store.entries("r")
        try:
            flow(run_on(RecordedStore(self.store, record), self.world, recorded_only=True))
        except (Unrecorded, WorldFault, Diverged) as end:
            assert isinstance(end, Unrecorded) or self.tampered
        assert before == (self.rung, self.store.entries("r"))

    def tamper(self) -> None:
        """Change or drop an entry: from then on nothing more may be sent."""
        entries = self.store._entries["r"]
        if not entries or self.chance.random() < 0.9:
            return
        n = self.chance.randrange(len(entries))
        if self.chance.random() < 0.5:
            del entries[n]
        else:
            old = entries[n].payload
            entries[n] = entries[n].model_copy(update={"payload": old.replace("1", "2") if "1" in old else old + " "})
        record = self.store.run("r")
        assert record is not None and check_chain(self.store.entries("r"), record.head) is not None
        self.tampered = True

    # --- the end -----------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Without faults from now on: what was answered in time is done, refused, or said to be unknown."""
        if self.tampered:
            self.clock.advance(31)
            with pytest.raises(WorldFault, match="not as it was written"):
                flow(run_on(self.store, self.world))
            return
        assert len(self.store.left("r", ANSWER)) == self.given, "an answer is gone"
        for _ in range(len(PROPOSALS) + 1):
            self.clock.advance(31)
            try:
                told = flow(run_on(self.store, self.world))
                break
            except Suspended as waits:
                assert waits.question == self.questions()[-1]
                genuine = [a for a in answers(self.store, waits.question) if self._counts(waits.question, a)]
                assert not genuine, "it waits for an answer that it has"
                self._sign_last()
        assert len(told) == len(PROPOSALS)
        for proposal, status in zip(PROPOSALS, told, strict=True):
            assert status != "done" or proposal.key in self.rung
        assert check_chain(self.store.entries("r")) is None

    def _sign_last(self) -> None:
        question = self.questions()[-1]
        self._leave(self.person.sign(question, self.clock.now()))
        self.signed.setdefault(question.action_digest, []).append(question)

    def _counts(self, question: Question, answer: Answer) -> bool:
        right = (answer.question, answer.digest) == (question.id, question.digest)
        if answer.how == "said":
            return right and answer.text == NO
        return right and not self.person.objection(question, answer)

    def _said(self, question: Question, text: str) -> Answer:
        now = iso(self.clock.now())
        return Answer(question=question.id, digest=question.digest, text=text, by="ann", at=now)

    def _leave(self, answer: Answer) -> None:
        number = sum(s.name.startswith(answer.question) for s in self.store.left("r", ANSWER)) + 1
        signal = Signal(name=f"{answer.question}/{number}", payload=answer.model_dump_json(), at=answer.at)
        assert self.store.leave("r", ANSWER, signal)
        self.given += 1


def test_any_order_of_events() -> None:
    rung = tampered = 0
    for seed in range(ORDERS):
        play = Play(seed)
        events = [play.resume] * 4 + [play.sign] * 3 + [play.refuse, play.forge, play.wait, play.replay, play.tamper]
        try:
            for _ in range(play.chance.randrange(4, 16)):
                play.chance.choice(events)()
            play.settle()
        except BaseException as error:
            error.add_note(f"order {seed}")
            raise
        rung, tampered = rung + len(play.rung), tampered + play.tampered
    assert rung > ORDERS and 0 < tampered < ORDERS // 2, "the orders do not reach what they are for"


# --- with processes that are killed ---------------------------------------------------------------------------------


def work(folder: Path, store: Store) -> None:
    """In a process of its own: go on with the run, and write down each time that the bell rings."""

    def ring(key: str) -> None:
        fd = os.open(folder / "rung", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, f"{key}\n".encode())
        os.close(fd)

    world = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda c: ended(0)), clock=FakeClock(time.time()))
    world.tools["bell"] = Bell(ring, world.clock.now)
    flow(run_on(store, world))


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    chance, person = random.Random(seed), FakeSignatures()
    first = SqliteStore(str(tmp_path / "state"))
    first.create("r", "{}", "t")
    first.close()
    signed: set[str] = set()
    for _ in range(60):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(tmp_path, SqliteStore(str(tmp_path / "state")))
                code = 0
            except Suspended:
                code = 4
            finally:
                os._exit(code)
        if chance.random() < 0.6:
            time.sleep(chance.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        store = SqliteStore(str(tmp_path / "state"))
        record = store.run("r")
        assert record is not None and check_chain(store.entries("r"), record.head) is None
        store.release(store.claim("r", "the test", time.time() + 1_000, 1))
        for question in (read_question(e) for _, e in store.questions() if e.kind is Kind.ASKED):
            if question.id not in signed and chance.random() < 0.7:
                answer = person.sign(question, time.time())
                assert store.leave(
                    "r", ANSWER, Signal(name=f"{question.id}/1", payload=answer.model_dump_json(), at="t")
                )
                signed.add(question.id)
        store.close()
        rung = (tmp_path / "rung").read_text().split() if (tmp_path / "rung").exists() else []
        assert len(rung) == len(set(rung)), "sent twice"
        assert len(rung) <= len(signed), "sent unsigned"
        if status == 0:
            break
    else:
        pytest.fail("it never came to its end")
    assert len(signed) >= len(PROPOSALS)
