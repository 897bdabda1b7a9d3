"""Equipment made of fakes."""

from __future__ import annotations

from collections.abc import Mapping

from referee.adapters.jobs import ThreadJobs
from referee.domain.errors import UsageError
from referee.ports import Clock, Command, Jobs, Model, OutsideTool, Sandbox, Shelf, Warm, Workspace
from referee.testing.clock import FakeClock
from referee.testing.shelf import MemoryShelf
from referee.testing.signing import FakeSignatures
from referee.testing.surroundings import FakeSurroundings


class FakeEquipment:
    """What a run is given in tests."""

    def __init__(
        self,
        workspace: Workspace,
        sandbox: Sandbox,
        models: Mapping[str, Model] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.workspace, self.sandbox = workspace, sandbox
        self.clock: Clock = clock or FakeClock()
        self.shelf: Shelf = MemoryShelf(self.clock)
        self.tools: dict[str, OutsideTool] = {}
        self.signatures = FakeSignatures()
        self.jobs: Jobs = ThreadJobs(lambda: sandbox)
        self.surroundings = FakeSurroundings()
        self._models = dict(models or {})

    def model(self, name: str) -> Model:
        """A model by name."""
        if name not in self._models:
            raise UsageError(f"no model {name!r}")
        return self._models[name]

    def outside(self, tool: str) -> OutsideTool:
        """An outside tool by name."""
        if tool not in self.tools:
            raise UsageError(f"there is no outside tool {tool!r}")
        return self.tools[tool]

    def warm(self, command: Command) -> Warm:
        """A new warm process."""
        return self.sandbox.warm(command)
