"""A reader: from a command's output to findings. For `reader = "todo"` of a check of one's own."""

from __future__ import annotations

import re

from referee.domain.finding import Finding, FindingKind
from referee.judge.readers import Output, Reading

_ROW = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):.*?\bTODO\b:? *(?P<text>.*)$", re.MULTILINE)


def todo(output: Output) -> Reading:
    """Each TODO that `grep -n` found. What is not understood is `strange`, and never a pass."""
    if output.exit_code not in (0, 1):  # as grep has it: 0 found some, 1 found none
        return Reading(strange=f"grep ended with {output.exit_code}")
    rows = [
        Finding(
            kind=FindingKind.FAILURE, check=output.check, id=f"{m['path']}:{m['line']}", path=m["path"],
            line=int(m["line"]), rule="todo", message=m["text"] or "something is to be done",
        )
        for m in _ROW.finditer(output.stdout)
    ]  # fmt: skip
    return Reading(findings=tuple(rows))
