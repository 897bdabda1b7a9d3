"""Does it compile, in the project's own Python?"""

from __future__ import annotations

import json
import posixpath

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check, python_files
from referee.judge.normal import coarse, plain
from referee.judge.project import INSIDE, Tool
from referee.ports import Base, Command, Execution


class SyntaxCheck(Check):
    """Compiles the changed files; on the tree as it is, those of the project's source folders."""

    name: str = "syntax"
    reader: str = "syntax"
    layer: Layer = Layer.COMPILE
    files: tuple[str, ...] = ()

    def command(self, base: Base, patch: Patch) -> Command | None:
        """None if there is no Python file among them."""
        files = python_files(patch, (".py",)) if patch.changes else self.files
        if not files:
            return None
        tool = Tool(argv=(self.project.interpreter.executable, "-I", "-S", "-B", f"{INSIDE}/syntax.py"))
        return self.tool_command(tool, tuple(f"{self.project.root}/{f}" for f in files), base, patch)

    def read(self, execution: Execution) -> CheckResult:
        """One JSON object, and an exit code that agrees with it."""
        try:
            told = json.loads(execution.stdout)
            found = tuple(self._finding(*error) for error in told["errors"])
        except (ValueError, TypeError, KeyError):
            return self.unreadable(execution)
        if execution.exit_code != (1 if found else 0):
            return self.unreadable(execution)
        return self.result(execution, found)

    def _finding(self, file: str, line: int, message: str, text: str) -> Finding:
        path = posixpath.relpath(file, self.project.root)
        return Finding(
            check=self.name, id=path, path=path, line=int(line), rule="syntax", error="SyntaxError",
            message=plain(message), cause=f"{path}|{coarse(message)}", value=plain(text), detail=(plain(text),),
        )  # fmt: skip
