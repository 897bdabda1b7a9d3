"""A detected program of another language, whose output a named reader understands."""

from __future__ import annotations

from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check
from referee.judge.checks.output import by_report
from referee.judge.project import Tool
from referee.judge.suites.linters import Linter
from referee.ports import Base, Command, Execution


class ReportedCheck(Check):
    """Runs a linter on its whole folder: what one file does wrong may show in another."""

    reader: str
    linter: Linter

    @property
    def lasting(self) -> bool:
        """Other languages' tools are not known by version."""
        return False

    def command(self, base: Base, patch: Patch) -> Command | None:
        """None if the patch touches nothing that it looks at."""
        linter = self.linter
        prefix = f"{linter.home}/" if linter.home else ""
        meant = [p for p in patch.touched if p.startswith(prefix) and p.endswith(linter.suffixes or ("",))]
        if patch.changes and not meant:
            return None
        made = self.tool_command(Tool(argv=linter.run), (), base, patch)
        return made.model_copy(update={"cwd": f"{made.cwd}/{linter.home}"}) if linter.home else made

    def read(self, execution: Execution) -> CheckResult:
        """What its reader says, with places told from the repository's root."""
        home = self.linter.home
        said = by_report(self, " ".join(self.linter.run), execution, home)
        if not home:
            return said
        return said.model_copy(
            update={
                "findings": tuple(
                    f.model_copy(update={"path": f"{home}/{f.path}", "id": f"{home}/{f.id}"}) if f.path else f
                    for f in said.findings
                )
            }
        )
