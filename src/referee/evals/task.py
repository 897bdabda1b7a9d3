"""Tasks: bugs that people fixed, as facts that anybody with the repository or the releases can rebuild."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, Field, ValidationError

from referee.domain.errors import UsageError
from referee.domain.value import Value

FEW, SOME = 3, 10  # changed lines of the two smaller strata


class BenchTask(Value):
    """One line of a task file. Keys that are not known here are passed over: task files have many writers.

    Of a commit: `repo` or `key` name the repository, `parent` and `fix` its commits. Of two releases: `pkg`, `old` and
    `fixed`; the function `func` of `file` is put back to what it was. `f2p` are the tests that fail before and pass
    after, `src` the changed source files, `tests` the changed test files, `lines` the larger of lines added and
    removed, `t_files` and `suite_cpu` the seconds that the changed test files and the whole suite take.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    id: str = ""
    text: str = ""
    repo: str = ""
    key: str = ""
    parent: str = ""
    fix: str = ""
    date: str = ""
    src: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    pkg: str = ""
    old: str = ""
    fixed: str = ""
    file: str = ""
    func: str = ""
    hunks: int = 0
    add: int = 0
    del_: int = 0
    lines: int = 0
    f2p: tuple[str, ...] = Field(min_length=1)
    n_f2p: int = 0
    n_p2p: int = 0
    fail_both: int = 0
    t_files: float = 0.0
    suite_tests: int = 0
    suite_cpu: float = 0.0

    @property
    def archives(self) -> bool:
        """Whether it is made of two releases' source archives."""
        return bool(self.pkg)

    @property
    def name(self) -> str:
        """What it is called where the line gives no id: repository and commit, or release and function."""
        if self.archives:
            return f"{self.pkg}-{self.fixed}-{self.func}"
        return f"{self.key or self.repo.rpartition('/')[2] or 'repository'}-{self.fix[:10]}"

    @property
    def stratum(self) -> str:
        """How large the change is."""
        if self.lines <= FEW:
            return f"1-{FEW} lines"
        return f"{FEW + 1}-{SOME} lines" if self.lines <= SOME else f"over {SOME} lines"


def read_tasks(path: str) -> tuple[BenchTask, ...]:
    """The tasks of a file of JSON lines, each with an id that is a file name and unique in it.

    Raises `UsageError` with the line that is wrong.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise UsageError(f"cannot read {path}: {getattr(wrong, 'strerror', None) or 'it is not UTF-8'}") from None
    found = [_task(path, n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not found:
        raise UsageError(f"{path} has no tasks; make some with `referee bench mine REPO --out {path}`")
    return _named(found)


def _task(path: str, number: int, line: str) -> BenchTask:
    try:
        task = BenchTask.model_validate_json(line)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(p) for p in first["loc"])
        raise UsageError(f"{path} line {number}: {place + ': ' if place else ''}{first['msg']}") from None
    needed = ("old", "fixed", "file", "func") if task.archives else ("parent", "fix")
    missing = [name for name in needed if not getattr(task, name)]
    if missing:
        raise UsageError(f"{path} line {number}: {', '.join(missing)} is missing")
    return task


def _named(tasks: Sequence[BenchTask]) -> tuple[BenchTask, ...]:
    """Names of their own for tasks that would be called alike."""
    seen: Counter[str] = Counter()
    named = []
    for task in tasks:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", task.id or task.name).strip(".") or "task"
        seen[plain] += 1
        named.append(task.model_copy(update={"id": plain if seen[plain] == 1 else f"{plain}-{seen[plain]}"}))
    return tuple(named)
