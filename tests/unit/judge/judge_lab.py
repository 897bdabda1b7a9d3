"""A repository, a real sandbox and a run to judge with, for the judge's tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from referee.actions.tree import PrepareBase
from referee.adapters.clock import SystemClock
from referee.adapters.git import GitWorkspace
from referee.adapters.python import find
from referee.adapters.sandbox import open_sandbox, sandbox_owner
from referee.domain.cost import Budget
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.protection import Protection
from referee.judge import Bench, Project, Settings, detect, prepare
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Command, Kind, Sandbox, Warm
from referee.testing import FakeEquipment, MemoryStore

OWN = find("/nowhere", own=sys.executable)


class Equipment(FakeEquipment):
    """Real workspace, sandbox and clock; warm processes are kept, as a desk keeps them."""

    def __init__(self, workspace: GitWorkspace, sandbox: Sandbox) -> None:
        super().__init__(workspace, sandbox, clock=SystemClock())
        self.warmed: dict[str, Warm] = {}

    def warm(self, command: Command) -> Warm:
        key = command.model_dump_json()
        if key not in self.warmed:
            self.warmed[key] = self.sandbox.warm(command)
        return self.warmed[key]


class Lab:
    """One repository under the judge's eyes."""

    def __init__(self, root: Path, files: Mapping[str, str | bytes], sandbox: Sandbox, **budget: Any) -> None:
        self.root = root
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        self.workspace = GitWorkspace(str(root), owner=sandbox_owner())
        self.equipment = Equipment(self.workspace, sandbox)
        self.begin(**budget)
        self.tree = self.workspace.snapshot("r").tree
        self.base = self.run.perform(PrepareBase(tree=self.tree, protection=Protection()))

    def begin(self, **budget: Any) -> None:
        """Begin a run, the first or a later one on the same tree."""
        store, clock = MemoryStore(), self.equipment.clock
        store.create("r", "{}", "now")
        journal = Journal(store, store.claim("r", "test", clock.now(), 60.0), clock)
        self.notes: list[str] = []
        shared = Shared(run_id="r", world=self.equipment, journal=journal, store=store, tell=self._tell)
        self.run, self.store = Run(shared, Budget(**budget)), store

    def performed(self) -> list[str]:
        """The actions of the run so far."""
        return [e.action for e in self.store.entries("r") if e.kind is Kind.REQUESTED]

    def _tell(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "note":
            self.notes.append(str(facts["text"]))

    def project(self) -> Project:
        return detect(
            self.workspace.root,
            self.run.paths(self.tree),
            lambda path: self.run.read(self.tree, path),
            interpreter=find(str(self.root), own=sys.executable),
            own=OWN,
        )

    def bench(self, *targets: str, **settings: Any) -> Bench:
        return prepare(self.run, self.project(), self.base, targets, Settings(**settings))

    def close(self) -> None:
        for warm in self.equipment.warmed.values():
            warm.close()
        self.workspace.close()


def patch(files: Mapping[str, str | bytes | None]) -> Patch:
    """A patch from text; None deletes."""
    return patch_of(
        {
            p: None if c is None else FileContent(data=c if isinstance(c, bytes) else c.encode())
            for p, c in files.items()
        }
    )


def opened() -> Sandbox:
    """The real sandbox of this machine."""
    return open_sandbox(allow_degraded=False, cache_dir="")
