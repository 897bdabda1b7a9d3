"""mypy with the project's own configuration."""

from __future__ import annotations

import re

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check, python_files
from referee.judge.normal import coarse, decode, steady
from referee.judge.project import Tool
from referee.ports import Base, Command, Execution

_LINE = re.compile(
    r"^(?P<path>[^:\n]+):(?:(?P<line>\d+):)?(?:\d+:)? (?P<level>error|note|warning): "
    r"(?P<text>.*?)(?:  \[(?P<rule>[a-z0-9-]+)\])?$"
)
_NOISE = re.compile(r"(?:note|warning|Warning): |(?:Found \d+ error|Success:)")


class MypyCheck(Check):
    """Types of the whole project: an error may show in a file that the patch does not touch."""

    name: str = "mypy"
    reader: str = "mypy"
    layer: Layer = Layer.TYPES
    tool: Tool

    def command(self, base: Base, patch: Patch) -> Command | None:
        """Whatever the configuration names, else the project's source folders."""
        if patch.changes and not python_files(patch) and all(c.after for c in patch.changes):
            return None
        what = () if self.project.mypy_whole else self._sources()
        arguments = (
            "--no-error-summary", "--show-error-codes", "--hide-error-context", "--no-color-output", "--no-pretty",
            "--no-incremental", "--cache-dir=/dev/null", "--no-error-summary", *what,
        )  # fmt: skip
        return self.tool_command(self.tool, arguments, base, patch)

    def _sources(self) -> tuple[str, ...]:
        roots = [r for r in self.project.layout.roots if r and r in self.project.layout.sources]
        return tuple(roots or self.project.layout.sources) or (".",)

    def read(self, execution: Execution) -> CheckResult:
        """Lines of a known form, and an exit code that agrees with them. Errors without a line are of the set-up."""
        found, unplaced, strange = [], [], []
        for text in decode(execution.stdout).splitlines():
            match = _LINE.match(text)
            if match is None:
                strange += [text] if text.strip() and not _NOISE.match(text) else []
            elif match["level"] == "error" and match["line"]:
                found.append(self._finding(match))
            elif match["level"] == "error":
                unplaced.append(f"{match['path']}: {match['text']}")
        if unplaced:
            return self.unreadable(execution, f"mypy cannot check the project as it is set up: {unplaced[0]}")
        if strange or execution.exit_code not in ((1, 2) if found else (0,)):
            return self.unreadable(execution)
        return self.result(execution, tuple(found))

    def _finding(self, match: re.Match[str]) -> Finding:
        path, rule, message = match["path"], match["rule"] or "error", match["text"]
        return Finding(
            check=self.name, id=f"{path}:{rule}", path=path, line=int(match["line"]), rule=rule, message=message,
            cause=f"{path}|{rule}|{coarse(message)}", value=steady(message),
        )  # fmt: skip
