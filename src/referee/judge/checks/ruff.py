"""Ruff: rules and formatting."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult
from referee.judge.checks.base import Check, python_files
from referee.judge.normal import coarse, decode, plain, steady
from referee.judge.project import Tool
from referee.ports import Base, Command, Execution


class RuffCheck(Check):
    """`ruff check` with the project's own rules."""

    name: str = "ruff"
    reader: str = "ruff"
    layer: Layer = Layer.FORMAT
    tool: Tool
    scope: tuple[str, ...] = (".",)  # the tree's own top-level names: environments mounted beside them are not meant

    def command(self, base: Base, patch: Patch) -> Command | None:
        """On the changed files, or on everything."""
        files = python_files(patch) if patch.changes and self.layer is not Layer.TARGET else self.scope
        arguments = ("check", "--no-cache", "--force-exclude", "--no-fix", "--output-format=json", "--", *files)
        return self.tool_command(self.tool, arguments, base, patch) if files else None

    def read(self, execution: Execution) -> CheckResult:
        """A JSON list, and an exit code that agrees with it."""
        try:
            listed = json.loads(_document(execution.stdout))
            if not isinstance(listed, list):
                return self.unreadable(execution)
            found = tuple(self._finding(entry) for entry in listed)
        except (ValueError, TypeError, KeyError, AttributeError):
            return self.unreadable(execution)
        if execution.exit_code != (1 if found else 0):
            return self.unreadable(execution)
        return self.result(execution, found)

    def _finding(self, entry: Any) -> Finding:
        path = posixpath.relpath(entry["filename"], self.project.root)
        line = int(entry["location"]["row"])
        rule, message = str(entry["code"] or "syntax"), plain(str(entry["message"]))
        return Finding(
            check=self.name, id=f"{path}:{rule}", path=path, line=line, rule=rule, message=message,
            cause=f"{path}|{rule}|{coarse(message)}", value=steady(message),
        )  # fmt: skip


def _document(output: bytes) -> bytes:
    """The list in the output; what a wrapper prints before it is not ruff's."""
    start = 0 if output.startswith(b"[") else output.find(b"\n[") + 1
    return output[start:]


_HEADER = re.compile(r"^--- (.+)$", re.MULTILINE)


class FormatCheck(Check):
    """`ruff format`: what it would change is a finding per file."""

    name: str = "ruff-format"
    reader: str = "ruff-format"
    layer: Layer = Layer.FORMAT
    tool: Tool
    scope: tuple[str, ...] = (".",)  # the tree's own top-level names: environments mounted beside them are not meant

    def command(self, base: Base, patch: Patch) -> Command | None:
        """On the changed files, or on everything."""
        files = python_files(patch) if patch.changes and self.layer is not Layer.TARGET else self.scope
        arguments = ("format", "--diff", "--no-cache", "--force-exclude", "--", *files)
        return self.tool_command(self.tool, arguments, base, patch) if files else None

    def read(self, execution: Execution) -> CheckResult:
        """A unified diff with exit code 1, or nothing with exit code 0."""
        text = decode(execution.stdout)
        parts = [p for p in re.split(r"(?m)^(?=--- )", text) if _HEADER.match(p)]
        agrees = execution.exit_code == (1 if parts else 0) and (bool(parts) or not text.strip())
        if not agrees:
            return self.unreadable(execution)
        return self.result(execution, tuple(self._finding(p) for p in parts))

    def _finding(self, part: str) -> Finding:
        head, *rest = part.splitlines()
        path = posixpath.normpath(head.removeprefix("--- "))
        at = re.search(r"^@@ -(\d+)", part, re.MULTILINE)
        changes = [li for li in rest if li[:1] in "+-" and not li.startswith("+++")]
        return Finding(
            check=self.name, id=path, path=path, line=int(at[1]) if at else 0, rule="format",
            message="ruff format would change this file", cause=f"{path}|format",
            value=steady("\n".join(changes)), detail=tuple(changes[:20]),
        )  # fmt: skip
