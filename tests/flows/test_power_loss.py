"""Power loss at every journal line, just before and just after it became durable, over both outcomes (A7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small

from referee.adapters.models.scripted import ScriptedModel
from referee.authors.model import ModelAuthor, Voice
from referee.domain.cost import Budget
from referee.domain.protection import Protection
from referee.domain.reason import StopReason
from referee.domain.task import Task
from referee.flows.plan import Ended, Plan, Player
from referee.flows.repair import repair
from referee.judge import Settings, detect, prepare
from referee.kernel.journal import Journal, check_chain
from referee.kernel.run import SHORT_SECONDS, Run, Shared
from referee.policy import protect
from referee.ports import Command, Execution, Interpreter, Kind, Store
from referee.testing import (
    FakeClock,
    FakeEquipment,
    FakeSandbox,
    FakeWorkspace,
    MemoryStore,
    PowerLoss,
    PowerLossStore,
    ended,
)

BEFORE = {"answer.txt": b"41\n", "notes.txt": b"mine\n"}
TARGET = "check answer"
PYTHON = Interpreter(executable="/usr/bin/python3", prefix="/usr", version="3.11")


def play(command: Command) -> Execution:
    """The check passes when the answer is 42."""
    patched = {c.path: c.after.data for c in command.patch.changes if c.after}
    return ended(0) if patched.get("answer.txt", b"41\n") == b"42\n" else ended(1, stderr=b"wrong answer")


class Machine:
    """What survives a loss of power: the disk (files and store) and the provider (which counts its calls).

    A check takes `seconds`: the end of one that takes none does not wait for the disk.
    """

    def __init__(self, script: Path, answers: list[str], seconds: float = 0.0) -> None:
        self.seconds = seconds
        replies = [small.proposal("answer.txt", content=f"{a}\n") for a in answers]
        self.model = small.script(script, *replies).partition(":")[2]
        self.workspace = FakeWorkspace(BEFORE)
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.store.create("r", "{}", "t")

    def run(self, store: Store) -> Ended:
        """Power on: open the run and go on with it."""
        self.clock.advance(1_000)
        sandbox = FakeSandbox(lambda command: (self.clock.advance(self.seconds), play(command))[1])
        world = FakeEquipment(self.workspace, sandbox, {"m": ScriptedModel(self.model)}, self.clock)
        lease = store.claim("r", "me", self.clock.now(), 30)
        journal = Journal(store, lease, self.clock)
        journal.note(f"run:{lease.fence}", Kind.OPENED, {"elapsed": journal.elapsed})
        shared = Shared(run_id="r", world=world, journal=journal, store=store, policies=(protect(Protection()),))
        run = Run(shared, Budget(max_steps=3))
        project = detect("/repo", tuple(BEFORE), BEFORE.get, interpreter=PYTHON)
        voices = [ModelAuthor(Voice(model="m", role=role)) for role in ("generator", "fixer")]
        plan = Plan(
            task=Task(text="the answer is wrong", targets=(TARGET,)),
            protection=Protection(),
            prepare=lambda run, base: prepare(run, project, base, (TARGET,), Settings()),
            players=lambda bench: [Player(kind="model", generator=voices[0], fixer=voices[1])],
        )
        return repair(run, plan)

    def files(self) -> dict[str, bytes]:
        """What the user sees."""
        return {p: c.data for p, c in self.workspace.files.items()}


OUTCOMES = {
    "solved": (["40", "42"], StopReason.SOLVED, {**BEFORE, "answer.txt": b"42\n"}),
    "unsolved": (["40", "39"], StopReason.NON_PROGRESS, BEFORE),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_without_a_loss_the_run_ends_as_expected(outcome: str, tmp_path: Path) -> None:
    answers, reason, after = OUTCOMES[outcome]
    machine = Machine(tmp_path / "s.jsonl", answers)
    assert machine.run(machine.store).reason is reason
    assert machine.files() == after


LOSSES = pytest.mark.parametrize(
    ("after", "forgetful"),
    [(False, False), (True, False), (False, True), (True, True)],
    ids=["before", "after", "before, unsynced lost", "after, unsynced lost"],
)


@LOSSES
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_loss_at_any_line_ends_in_all_or_nothing_and_resumes(
    outcome: str, after: bool, forgetful: bool, tmp_path: Path
) -> None:
    answers, reason, files = OUTCOMES[outcome]
    line = 0
    while True:
        line += 1
        machine = Machine(tmp_path / "s.jsonl", answers)
        failing = PowerLossStore(machine.store, at=line, after=after, forgetful=forgetful)
        try:
            machine.run(failing)  # type: ignore[arg-type]
        except PowerLoss:
            assert machine.files() in (BEFORE, files)
        else:
            break
        resumed = machine.run(machine.store)
        assert resumed.reason is reason, f"line {line}"
        assert machine.files() == files, f"line {line}"
        assert check_chain(machine.store.entries("r")) is None
        paid_once(machine)
    assert line > 20, "the run writes fewer lines than expected: is the journal in use?"


@LOSSES
def test_losing_power_again_while_resuming_changes_nothing(after: bool, forgetful: bool, tmp_path: Path) -> None:
    answers, reason, files = OUTCOMES["solved"]
    # Lines. The least that gets further is to open, to end what was cut off, to ask anew and to end that: four whole
    # ones, and the fifth is lost. What is not synced on the way may have to be done again.
    further = 10 if forgetful else 5
    machine = Machine(tmp_path / "s.jsonl", answers, SHORT_SECONDS)
    losses = 0
    while True:
        # Each leg of the run gets a few lines further than the last.
        failing = PowerLossStore(machine.store, at=further, after=after, forgetful=forgetful)
        try:
            last = machine.run(failing)  # type: ignore[arg-type]
            break
        except PowerLoss:
            losses += 1
            assert losses < 200, "it gets no further"
            assert machine.files() in (BEFORE, files)
    assert losses > (2 if forgetful else 5)
    assert last.reason is reason
    assert machine.files() == files


def paid_once(machine: Machine) -> None:
    """No call that ended is made again: at most the one that the loss cut off is in the record twice."""
    endings = [e for e in machine.store.entries("r") if e.action == "call_model" and e.kind == "ended"]
    outcomes = [json.loads(e.payload)["outcome"] for e in endings]
    assert outcomes.count("done") == 2
    assert outcomes.count("lost") <= 1
