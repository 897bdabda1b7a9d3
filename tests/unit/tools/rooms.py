"""A room over fakes, and calls in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from referee.domain.cost import Budget
from referee.domain.observation import Observation
from referee.domain.protection import Protection
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.policy import ask_in_words, protect
from referee.ports import Base, Command, Execution, ToolCall
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended
from referee.tools import Place, Room, Shell, Toolbox

ROOT = "/repo"


class Bench:
    """One run in a repository in memory; `play` answers commands."""

    def __init__(
        self, files: Mapping[str, str | bytes], play: Callable[[Command], Execution] = lambda c: ended(0)
    ) -> None:
        contents = {p: t.encode() if isinstance(t, str) else t for p, t in files.items()}
        self.workspace, self.sandbox = FakeWorkspace(contents, ROOT), FakeSandbox(play)
        self.store = MemoryStore()
        self.store.create("r1", "{}", "now")
        self._times = 0
        self.protection = Protection(protected=("secret/",))
        self.open()

    def open(self) -> None:
        """Take the run up, as a process does that resumes it."""
        clock = FakeClock()
        world = FakeEquipment(self.workspace, self.sandbox, clock=clock)
        self._times += 1
        lease = self.store.claim("r1", "me", 1e4 * self._times, 1.0)
        self.run = Run(
            Shared(
                run_id="r1", world=world, journal=Journal(self.store, lease, clock), store=self.store,
                policies=(protect(self.protection), ask_in_words("test")),
            ),
            Budget(timeout=86_400.0),  # between two openings lies the time of a lease
        )  # fmt: skip
        tree = self.workspace.snapshot("r1").tree
        self.room = Room(run=self.run, place=Place(protection=self.protection, equip=self._shell), tree=tree)
        self.toolbox, self._n = Toolbox(), 0

    def _shell(self, run: Run) -> Shell:
        tree = self.workspace.snapshot("r1").tree
        return Shell(base=Base(tree=tree, path="/base", mount_at=ROOT), interpreter="/usr/bin/python3")

    def call(self, name: str, /, **arguments: Any) -> Observation:
        """One call of a model."""
        return self.written(name, json.dumps(arguments))

    def written(self, name: str, arguments: str) -> Observation:
        """The same, with the arguments as the model wrote them."""
        self._n += 1
        return self.toolbox.call(self.room, ToolCall(id=f"c{self._n}", name=name, arguments=arguments))

    def file(self, path: str) -> bytes | None:
        """What is at `path` now."""
        return self.room.read(path)
