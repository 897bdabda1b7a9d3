"""Any command of the user's, read as they say."""

from __future__ import annotations

from referee.domain.destination import Destination
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check
from referee.judge.checks.mypy import MypyCheck
from referee.judge.checks.output import by_exit, by_lines, by_report
from referee.judge.checks.ruff import FormatCheck, RuffCheck
from referee.judge.project import Tool
from referee.judge.readers import READERS
from referee.ports import Base, Command, Execution

_BY_OUTPUT = {"exit": by_exit, "lines": by_lines, **dict.fromkeys(READERS, by_report)}
_BY_TOOL: dict[str, type[MypyCheck | RuffCheck | FormatCheck]] = {
    "mypy": MypyCheck,
    "ruff": RuffCheck,
    "ruff-format": FormatCheck,
}


READER_NAMES = frozenset((*_BY_OUTPUT, *_BY_TOOL))


class CommandCheck(Check):
    """`{targets}` and `{files}` stand for targets and changed files, one argument each."""

    reader: str = "exit"
    run: tuple[str, ...]
    targets: tuple[str, ...] = ()
    egress: tuple[Destination, ...] = ()

    @property
    def lasting(self) -> bool:
        """Nobody knows what a command of the user's depends on."""
        return False

    def command(self, base: Base, patch: Patch) -> Command | None:
        """The command as configured."""
        filled = {"{targets}": self.targets, "{files}": patch.touched}
        words = tuple(word for part in self.run for word in filled.get(part, (part,)))
        return self.tool_command(Tool(argv=words), (), base, patch).model_copy(update={"egress": self.egress})

    def read(self, execution: Execution) -> CheckResult:
        """What the configured reader makes of it. Raises `UsageError` for a reader there is not."""
        if self.reader in _BY_OUTPUT:
            return _BY_OUTPUT[self.reader](self, " ".join(self.run), execution)
        if self.reader not in _BY_TOOL:
            return by_report(self, " ".join(self.run), execution)
        kind = _BY_TOOL[self.reader]
        tool = Tool(argv=self.run)
        like = kind(name=self.name, layer=self.layer, project=self.project, tool=tool, not_run=self.not_run)
        return like.read(execution)
