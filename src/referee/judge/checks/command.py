"""Any command of the user's whose exit code is the verdict."""

from __future__ import annotations

from referee.domain.destination import Destination
from referee.domain.finding import Finding
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check
from referee.judge.normal import decode, steady
from referee.judge.project import Tool
from referee.ports import Base, Command, Execution

_SHOWN = 30  # lines of output a finding carries


class CommandCheck(Check):
    """Exit code 0 is a pass. `{targets}` and `{files}` stand for targets and changed files, one argument each."""

    run: tuple[str, ...]
    targets: tuple[str, ...] = ()
    egress: tuple[Destination, ...] = ()

    def command(self, base: Base, patch: Patch) -> Command | None:
        """The command as configured."""
        filled = {"{targets}": self.targets, "{files}": patch.touched}
        words = tuple(word for part in self.run for word in filled.get(part, (part,)))
        return self.tool_command(Tool(argv=words), (), base, patch).model_copy(update={"egress": self.egress})

    def read(self, execution: Execution) -> CheckResult:
        """Anything but a clean exit with 0 is a failure; a program that is not there did not run."""
        if execution.exit_code == 0 and execution.killed_by is None:
            return self.result(execution, ())
        if execution.exit_code in (126, 127):
            return self.unreadable(execution)
        lines = [li for li in (decode(execution.stdout) + "\n" + decode(execution.stderr)).splitlines() if li.strip()]
        ended = execution.killed_by or f"exit code {execution.exit_code}"
        found = Finding(
            check=self.name, id=self.name, error=ended, message=f"{' '.join(self.run)} failed: {ended}",
            cause=f"command|{ended}", value=steady("\n".join(lines)), detail=tuple(lines[-_SHOWN:]),
        )  # fmt: skip
        return self.result(execution, (found,))
