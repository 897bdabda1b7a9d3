"""Landing while the user works, over fakes: what goes through, what is judged again, and what is given up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from referee.domain.commit_message import Repaired
from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.patch import FileContent, patch_of
from referee.domain.protection import Protection
from referee.domain.task import Task
from referee.domain.verdict import Verdict
from referee.flows.attempt import Attempt
from referee.flows.deliver import LOOKS, Delivered, deliver
from referee.flows.plan import Plan
from referee.judge import Bench, Settings, detect, prepare
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Base, Command, Execution, Interpreter, Landing
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

FILES = {"answer.txt": b"41\n", "notes.txt": b"mine\n", "other.txt": b"o\n"}
PYTHON = Interpreter(executable="/usr/bin/python3", prefix="/usr", version="3.11")
TARGET = "check answer"


class Desk:
    """A repair that has passed, about to land at `place`; `judged` counts what the sandbox was asked."""

    def __init__(self, place: str = "tree", workspace: FakeWorkspace | None = None) -> None:
        self.workspace = workspace or FakeWorkspace(FILES)
        self.place, self.judged, self.notes = place, 0, list[str]()
        self.unfit = False
        self.start = self.workspace.snapshot("r")
        self.patch = patch_of({"answer.txt": FileContent(data=b"42\n")})
        self.after = self.workspace.apply(self.start.tree, self.patch)

    def write(self, path: str, data: bytes) -> None:
        self.workspace.files[path] = FileContent(data=data)

    def files(self) -> dict[str, bytes]:
        return {p: c.data for p, c in self.workspace.files.items()}

    def _play(self, command: Command) -> Execution:
        self.judged += 1
        patched = {c.path: c.after.data for c in command.patch.changes if c.after}
        good = patched.get("answer.txt") == b"42\n" and self.workspace.files["other.txt"].data != b"broken\n"
        return ended(0) if good else ended(1, stderr=b"wrong answer")

    def _tell(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "note":
            self.notes.append(str(facts["text"]))

    def _prepare(self, run: Run, base: Base) -> Bench:
        if self.unfit:
            raise UsageError("no such target")
        project = detect("/repo", tuple(FILES), FILES.get, interpreter=PYTHON)
        return prepare(run, project, base, (TARGET,), Settings())

    def deliver(self) -> Delivered:
        store, clock = MemoryStore(), FakeClock()
        store.create("r", "{}", "t")
        world = FakeEquipment(self.workspace, FakeSandbox(self._play), {}, clock)
        journal = Journal(store, store.claim("r", "me", clock.now(), 30), clock)
        run = Run(Shared(run_id="r", world=world, journal=journal, store=store, tell=self._tell), Budget())
        plan = Plan(
            task=Task(text="the answer is wrong", targets=(TARGET,)),
            protection=Protection(),
            prepare=self._prepare,
            players=lambda bench: [],
            place=self.place,
        )
        attempt = Attempt(
            verdict=Verdict(author="search", proposed=True, passed=True), tree=self.after, patch=self.patch
        )
        return deliver(run, plan, self.start, attempt, Repaired(run_id="r", task="the answer is wrong"))


def test_nothing_moved_lands_as_judged() -> None:
    desk = Desk()
    done = desk.deliver()
    assert (done.moved, done.attempt.tree, desk.judged, desk.notes) == ("", desk.after, 0, [])
    assert desk.files() == {**FILES, "answer.txt": b"42\n"}


@pytest.mark.parametrize("place", ["tree", "commit"])
def test_edits_elsewhere_stay_out_of_it_and_are_told(place: str) -> None:
    """They were not part of what was judged; they are the user's, and half-finished edits must stop nobody."""
    desk = Desk(place)
    desk.write("other.txt", b"broken\n")
    done = desk.deliver()
    assert done.moved == ""
    assert desk.judged == 0
    assert "judged without that: other.txt" in desk.notes[-1]
    assert desk.files() == {**FILES, "answer.txt": b"42\n", "other.txt": b"broken\n"}


def test_the_same_file_changed_to_something_else_is_given_up() -> None:
    desk = Desk()
    desk.write("answer.txt", b"40\n")
    done = desk.deliver()
    assert "answer.txt changed while the run worked; the same lines of answer.txt as the repair" in done.moved
    assert desk.files() == {**FILES, "answer.txt": b"40\n"}


def test_a_commit_of_the_users_is_judged_with_the_repair() -> None:
    desk = Desk("commit")
    desk.workspace.head = "1" * 40
    done = desk.deliver()
    assert done.moved == ""
    assert desk.judged > 0
    assert done.base.head == "1" * 40
    assert done.landing is not None
    assert done.landing.revision == desk.workspace.head


def test_a_commit_of_the_users_that_breaks_the_repair_is_not_built_upon() -> None:
    desk = Desk("commit")
    desk.workspace.head = "1" * 40
    desk.write("other.txt", b"broken\n")
    done = desk.deliver()
    assert "together with your edits the repair does not pass" in done.moved
    assert (desk.workspace.head, desk.files()["answer.txt"]) == ("1" * 40, b"41\n")


def test_edits_that_leave_the_judge_nothing_to_run_do_not_lose_the_repair() -> None:
    """The user has removed the target meanwhile: preparing again is a `UsageError`, and the proposal is finished."""
    desk = Desk("commit")
    desk.workspace.head = "1" * 40
    desk.unfit = True
    assert "no such target; nothing was written, the proposal is kept" in desk.deliver().moved
    assert desk.files() == FILES


def test_a_branch_that_appeared_meanwhile_is_left_alone() -> None:
    desk = Desk("branch:fix")
    desk.workspace.branches["fix"] = "mine"
    assert "the branch fix was made meanwhile" in desk.deliver().moved
    assert desk.workspace.branches == {"fix": "mine"}


class Restless(FakeWorkspace):
    """A user who edits between the look and the landing, some times."""

    def __init__(self, times: int) -> None:
        super().__init__(FILES)
        self.left = times

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Edit first: the executable bit comes and goes."""
        if self.left:
            self.left -= 1
            self.files["answer.txt"] = FileContent(data=b"41\n", executable=True)
            answer = super().land(run_id, before, after)
            self.files["answer.txt"] = FileContent(data=b"41\n")
            return answer
        return super().land(run_id, before, after)


def test_a_landing_that_meets_an_edit_starts_again_but_not_for_ever() -> None:
    once = Desk(workspace=Restless(1))
    assert once.deliver().moved == ""
    assert once.files()["answer.txt"] == b"42\n"
    always = Desk(workspace=Restless(10 * LOOKS))
    done = always.deliver()
    assert done.landing is not None and done.landing.conflicts
    assert "nothing was written" in done.moved
    assert always.files() == FILES
