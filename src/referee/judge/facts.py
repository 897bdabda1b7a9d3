"""What is known about a tree from earlier runs: what its checks say, what its tests do, which of them are flaky.

A fact is about one command on one tree with one set of tools. The target is never taken from here: that it fails, and
alike, is seen anew by every run (D4).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from referee.actions.recall import Recall, Remember
from referee.domain.canonical import canonical
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.checks import Check
from referee.judge.project import Project
from referee.judge.seen import Seen
from referee.kernel.run import Run
from referee.ports import Command

V = TypeVar("V", bound=Value)

_MOST = 16 << 20  # characters; what is longer is quicker found out again than journaled twice


def edition() -> str:
    """The identity of this judge: facts that another one found out are not for it."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def key_of(kind: str, project: Project, command: Command) -> str:
    """One command, with its tree, environment and limits, and the versions of everything it may use."""
    python = project.interpreter
    told = command.model_dump(mode="json", include={"argv", "cwd", "env", "limits"})
    tools = {"python": python.version, "installed": dict(python.distributions)}
    tree = command.base.tree if command.base is not None else ""
    return canonical({"kind": kind, "tree": tree, "command": told, "tools": tools}).decode()


def key_of_check(project: Project, check: Check, command: Command) -> str:
    """One check's command, and how it is read."""
    return key_of(f"check {check.name} {check.reader}", project, command)


def known_result(run: Run, key: str) -> CheckResult | None:
    """What a check said of the tree."""
    text = run.perform(Recall(key=key)).text
    return _read(CheckResult, text)


def keep_result(run: Run, key: str, result: CheckResult) -> None:
    """Keep it, if the check ran to its end."""
    if result.state is not CheckState.NOT_RUN and result.killed_by is None:
        run.perform(Remember(key=key, text=result.model_dump_json()))


def known_suite(run: Run, key: str) -> Seen | None:
    """What the whole suite did on the tree."""
    text = run.perform(Recall(key=key)).text
    return _read(Seen, text)


def keep_suite(run: Run, key: str, seen: Seen) -> None:
    """Keep it, if it came to its end; without the raw stream, whose content is in the report."""
    if seen.report.broken or seen.execution.killed_by is not None:
        return
    slim = {"channel": b"", "key": b"", "stdout": b"", "stderr": b""}
    text = seen.model_copy(update={"execution": seen.execution.model_copy(update=slim)}).model_dump_json()
    if len(text) <= _MOST:
        run.perform(Remember(key=key, text=text))


def _read(kind: type[V], text: str | None) -> V | None:
    """The fact; what cannot be read is not known, and found out again."""
    try:
        return None if text is None else kind.model_validate_json(text)
    except ValidationError:
        return None


def known_flaky(run: Run, tree: str) -> tuple[str, ...]:
    """Tests that were seen to end differently on this tree."""
    text = run.perform(Recall(key=f"flaky {tree}")).text
    return () if text is None else tuple(str(t) for t in json.loads(text))


def keep_flaky(run: Run, tree: str, tests: Iterable[str]) -> None:
    """Add to them."""
    known = known_flaky(run, tree)
    run.perform(Remember(key=f"flaky {tree}", text=json.dumps(sorted({*known, *tests}))))
