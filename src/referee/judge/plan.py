"""Commands that run tests under the judge's eyes: what is handed to the inside, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from referee.actions.execute import ExecuteEach, ExecuteWarm
from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.judge import stream
from referee.judge.project import INSIDE, Project
from referee.kernel.run import Run
from referee.ports import Base, Command, Execution, Job, Limits

_WARM = "REFEREE_WARM"  # the variable by which the inside knows that it is to be forked
_PIECE = 100_000  # bytes of one argument; the kernel refuses 128 KiB
_CHANNEL_BYTES = 256 << 20  # about a kilobyte for each test, and suites of 60,000 tests exist
_MOST_IDS = 60_000  # bytes of test ids named one by one; beyond that their files are named

DOCUMENTS = (".rst", ".md", ".txt")
_DOCTESTS = ("--doctest-modules", *(f"--doctest-glob=*{ending}" for ending in DOCUMENTS))


class TestRun(Value):
    """Which tests to run (none: the whole suite) and how closely to look.

    `honest` are (path, line) of `__eq__` methods that are as they were before the patch. A test that runs longer
    than `test_seconds` fails there and then, with the place where it was; 0 is no such limit. `full` asks for
    pytest's own text too, `trace` for the lines of code under test that ran, `reach` for functions and files instead,
    `examples` for the doctests of the files that `ids` names. Ways to cross-examine: `red` fails every test at its end,
    `broken` breaks the functions at these lines by path, `disguise` gives tests other names and lines.
    """

    __test__ = False

    ids: tuple[str, ...] = ()
    trace: bool = False
    reach: bool = False
    collect_only: bool = False
    honest: tuple[tuple[str, int], ...] = ()
    test_seconds: float = 10.0
    full: bool = True
    examples: bool = False
    red: bool = False
    broken: Mapping[str, tuple[int, ...]] = {}
    disguise: bool = False


def command(project: Project, base: Base, patch: Patch, what: TestRun, seconds: float) -> Command:
    """A cold run, bounded to `seconds` of wall clock."""
    return _fresh(project, base, job(project, patch, what, seconds))


def _fresh(project: Project, base: Base, job: Job) -> Command:
    return Command(
        argv=(*_entry(project), *job.argv),
        base=base,
        patch=job.patch,
        cwd=project.cwd,
        env=project.env,
        mounts=project.mounts,
        limits=job.limits,
        channel=True,
    )


def warm_command(project: Project, base: Base) -> Command:
    """The process that is forked once per candidate."""
    tests = [f"{project.root}/{p}" for p in project.hot]
    wanted = {"root": project.root, "plugins": project.plugins, "modules": project.modules, "tests": tests}
    return Command(
        argv=_entry(project),
        base=base,
        cwd=project.cwd,
        env={**project.env, _WARM: json.dumps(wanted)},
        mounts=project.mounts,
        channel=True,
    )


def job(project: Project, patch: Patch, what: TestRun, seconds: float) -> Job:
    """One use of the warm process."""
    return Job(argv=_pieces(project, patch, what), patch=patch, limits=limits(seconds))


def warm(run: Run, project: Project, base: Base, jobs: tuple[Job, ...], parallel: int = 1) -> tuple[Execution, ...]:
    """Run jobs on the project's warm process, which starts with the first of them, or each afresh if that cannot be."""
    if project.forkable:
        started = warm_command(project, base)
        return run.perform(ExecuteWarm(command=started, jobs=jobs, parallel=parallel)).items
    fresh = tuple(_fresh(project, base, j) for j in jobs)
    return run.perform(ExecuteEach(commands=fresh, parallel=parallel)).items


def limits(seconds: float) -> Limits:
    """Processor time is bounded by what the wall clock allows on a few cores."""
    return Limits(wall_seconds=seconds, cpu_seconds=max(60.0, seconds * 4), channel_bytes=_CHANNEL_BYTES)


def arguments(project: Project, what: TestRun) -> tuple[str, ...]:
    """pytest's arguments: the judge's own, the project's that matter, the tests."""
    config = f"{project.root}/{project.config.file}" if project.config.file else f"{INSIDE}/empty.ini"
    ids: Sequence[str] = what.ids
    if sum(len(i.encode("utf-8", "surrogatepass")) for i in ids) > _MOST_IDS:
        ids = tuple(dict.fromkeys(i.partition("::")[0] for i in ids))
    seeded = ("--hypothesis-seed=0",) if "hypothesis" in project.modules else ()
    return (
        "-c", config, f"--rootdir={project.root}", f"--confcutdir={project.root}",
        "-o", "addopts=", "-o", "pythonpath=", "-o", "required_plugins=",
        "-q", "--tb=short" if what.full else "--tb=no", "--color=no", "--continue-on-collection-errors", *seeded,
        *project.config.arguments, *(() if what.ids else project.config.selecting),
        *(("--collect-only",) if what.collect_only else ()), *(_DOCTESTS if what.examples else ()),
        *_placed(project, ids or project.suite),
    )  # fmt: skip


def _placed(project: Project, ids: Sequence[str]) -> Sequence[str]:
    """Ids as pytest finds them: it looks from the folder it runs in, and the judge counts from the root."""
    return [f"{project.root}/{i}" for i in ids] if project.home else ids


def _entry(project: Project) -> tuple[str, ...]:
    return (project.interpreter.executable, "-s", "-S", "-B", f"{INSIDE}/entry.py")


def _pieces(project: Project, patch: Patch, what: TestRun) -> tuple[str, ...]:
    root = project.root
    roots = [f"{root}/{r}" if r else root for r in project.layout.roots]
    touched = [p for p in patch.touched if p.endswith(".py")]
    document: dict[str, Any] = {
        "root": root,
        "cwd": project.cwd,
        "args": arguments(project, what),
        "plugins": project.plugins,
        "names": {n: f"{root}/{f}" if f else root for n, f in project.layout.names.items()},
        "paths": roots,
        "outside": [project.interpreter.prefix],
        "tests": project.layout.guarded,
        "touched": touched,
        "honest": what.honest,
        "canaries": 0 if what.collect_only else stream.CANARIES,
        "trace": what.trace,
        "reach": what.reach,
        "seconds": what.test_seconds,
        "reads": not patch.changes,
        "red": what.red,
        "broken": what.broken,
        "disguise": what.disguise,
    }
    text = json.dumps(document)
    return tuple(text[i : i + _PIECE] for i in range(0, len(text), _PIECE))
