"""What may be named as a target, and what a project must have to be judged: refused in words, before anything else."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence

from referee.actions.execute import Execute
from referee.domain.errors import UsageError
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.judge import plan, stream
from referee.judge.bench import Bench
from referee.judge.checks import Check, CommandCheck
from referee.judge.choose import configured
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.settings import Settings
from referee.judge.stream import Report
from referee.kernel.run import Run


def kinds(paths: frozenset[str], targets: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Test ids, and commands: several words, a script of the repository, or the bare name of a program.

    Raises `UsageError` for what is neither, with the nearest file.
    """
    folders = {p[:i] for p in paths for i, c in enumerate(p) if c == "/"}
    ids, commands = [], []
    for target in (t.strip() for t in targets):
        plain = target.removeprefix("./").rstrip("/")
        file = plain.partition("::")[0]
        if ("::" not in plain and " " in plain and plain not in paths) or _script(target, paths):
            commands.append(target)
        elif file in paths or file in folders:
            ids.append(plain)
        elif _program(plain, paths):
            commands.append(plain)
        else:
            near = difflib.get_close_matches(file, sorted(p for p in paths if p.endswith(".py")), 3, 0.5)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"target {target!r} names no file of the repository{hint}")
    return tuple(ids), tuple(commands)


def promoted(checks: Sequence[Check], targets: Sequence[str]) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The checks, with those that a target names (such as `mypy`) as what must pass; and the other targets."""
    names = {c.name for c in checks}
    made = tuple(c.as_target() if c.name in targets else c for c in checks)
    return made, tuple(t for t in targets if t not in names)


def _script(target: str, paths: frozenset[str]) -> bool:
    """`./NAME` of a file that holds no Python tests."""
    return target.startswith("./") and target[2:] in paths and not target.endswith((".py", ".txt", ".rst", ".md"))


def _program(word: str, paths: frozenset[str]) -> bool:
    """One word, such as `make`, that is no misspelt test."""
    if not re.fullmatch(r"[A-Za-z0-9][\w+-]*", word) or word.startswith("test_") or word.endswith("_test"):
        return False
    stems = {p.rpartition("/")[2].removesuffix(".py") for p in paths if p.endswith(".py")}
    return not difflib.get_close_matches(word, stems, 1, 0.75)


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as wrong:
        raise UsageError(f"target {text!r} cannot be split into words ({wrong}); balance its quotes") from None


def target_commands(
    project: Project, settings: Settings, commands: Sequence[str], ids: tuple[str, ...]
) -> Iterable[Check]:
    """Targets that are commands: given as such, or configured for the target layer."""
    for text in commands:
        yield CommandCheck(
            name=text,
            layer=Layer.TARGET,
            project=project,
            seconds=settings.target_seconds,
            run=_words(text),
            why="asked for",
        )
    for spec in settings.checks:
        if spec.layer is Layer.TARGET and spec.title not in settings.skip:
            yield configured(project, settings, spec, ids)


def equipped(project: Project, skip: tuple[str, ...], demanded: bool) -> None:
    """Raises `UsageError` if a check the project is set up for is missing, or if nothing can judge at all."""
    missing = [name for name in project.missing() if name not in skip]
    if missing:
        names = ", ".join(missing)
        python = project.interpreter.executable
        raise UsageError(
            f"the project is set up for {names}, which is not installed; install it ({python} -m pip install "
            f"{' '.join(sorted({m.partition('-')[0] for m in missing}))}) or leave it out with skip in referee.toml"
        )
    if "pytest" not in project.uses and not demanded:
        raise UsageError("nothing can judge a repair here: no tests were found; name a check with --target 'COMMAND'")
    if "pytest" in project.uses and "pytest" not in project.interpreter.distributions:
        raise UsageError(project.note or f"{project.interpreter.executable} has no pytest")


def exist(run: Run, bench: Bench, ids: tuple[str, ...], report: Report) -> None:
    """Every target named was found, or is a module that cannot be collected. Raises `UsageError` naming the nearest."""
    if report.broken:
        return  # the process died before it could say: that is the failure to repair
    uncollected = {r["id"] for r in report.collection}
    found = report.collected or ()

    def known(target: str) -> bool:
        file = target.partition("::")[0]
        within = any(i == target or i.startswith((target + "::", target + "[", target + "/")) for i in found)
        return within or any(u == file or u.startswith(file + "/") for u in uncollected)

    lost = [t for t in ids if not known(t)]
    if not lost:
        return
    files = tuple(dict.fromkeys(t.partition("::")[0] for t in lost))
    what = TestRun(ids=files, collect_only=True)
    command = plan.command(bench.project, bench.base, Patch(), what, bench.settings.target_seconds)
    execution = run.perform(Execute(command=command))
    there = stream.read(execution.channel, execution.key).collected or ()
    near = difflib.get_close_matches(lost[0], there, 3, 0.4)
    hint = f"; the nearest are {', '.join(near)}" if near else "; its file has no tests"
    raise UsageError(f"there is no test {lost[0]}{hint}")
