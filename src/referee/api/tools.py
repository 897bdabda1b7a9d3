"""The judge and the sandbox by themselves: check, sandbox, doctor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from referee.actions.execute import Execute
from referee.actions.tree import PrepareBase, TakeSnapshot
from referee.adapters import sandbox as sandboxes
from referee.adapters.store import MemoryStore
from referee.config import Config, load, user_path
from referee.context.skills import Skill, found
from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.mapped import MapReport
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.planned import PlanReport
from referee.domain.report import AttackReport, CheckReport, DoctorReport, check_report
from referee.judge import compress, examine, outline
from referee.judge.choose import without_skipped
from referee.judge.selection.record import record
from referee.kernel.journal import LEASE_SECONDS, Journal
from referee.kernel.run import Run, Shared
from referee.ports import Base, Execution, Limits, Progress, Snapshot
from referee.wiring import Desk

WEEK = 7.0 * 86_400


def check(
    repo: str = ".", config: Config | None = None, progress: Progress | None = None, *, changed: bool = False
) -> CheckReport:
    """The judge on the tree as it is, without a model and without a record.

    If `changed`, what looks at files looks only at those that are not as in HEAD. Raises `UsageError` without a HEAD.
    """
    config = config or load(repo)
    with Desk(repo, config) as desk:
        run = unrecorded(desk, config.budget, progress)
        if weakness := desk.weakness():
            run.note(weakness)
        taken = _snapshot(run)
        base = run.perform(PrepareBase(tree=taken.tree, protection=config.protection))
        only = _changed(desk, taken) if changed else None
        results = examine(run, desk.project(base.tree), base, desk.settings(), only)
        return check_report(results, compress(results)).model_copy(update={"isolation": desk.stamp()})


def plan(repo: str = ".", config: Config | None = None) -> PlanReport:
    """What `check` and `fix` would run in the repository, layer by layer; nothing is run."""
    config = config or load(repo)
    with Desk(repo, config) as desk:
        tree = unrecorded(desk, config.budget, None).perform(TakeSnapshot(run_id="check", settled=False)).tree
        return outline(desk.project(tree), desk.settings(), desk.workspace.paths(tree))


def skills(repo: str = ".") -> tuple[Skill, ...]:
    """What the repository's skills are and what each is for."""
    with Desk(repo, load(repo)) as desk:
        tree = unrecorded(desk, desk.config.budget, None).perform(TakeSnapshot(run_id="check", settled=False)).tree
        return found(lambda path: desk.workspace.read(tree, path), desk.workspace.paths(tree))


def map_tests(repo: str = ".", config: Config | None = None, progress: Progress | None = None) -> MapReport:
    """Bring the map of what each test reaches up to date; later runs choose affected tests by it."""
    config = config or load(repo)
    with Desk(repo, config) as desk:
        # Watched tests take longer than the run of a check may: their own limit is the one that counts.
        run = unrecorded(desk, Budget(timeout=WEEK), progress)
        if weakness := desk.weakness():
            run.note(weakness)
        base, settings = _base(desk, run), desk.settings()
        project = without_skipped(desk.project(base.tree), settings)
        if "pytest" not in project.uses or "pytest" not in project.interpreter.distributions:
            raise UsageError(project.note or "there are no pytest tests to make a map of")
        made = record(run, project, base, settings)
        reached = made.reached
        return MapReport(
            tests=len(reached.tests), recorded=made.again, always=len(reached.always),
            functions=sum(bool(name) for _, name in reached.places), files=len({p for p, _ in reached.places}),
            duration_ms=made.duration_ms, isolation=desk.stamp(),
        )  # fmt: skip


def sandbox(
    argv: tuple[str, ...],
    repo: str = ".",
    config: Config | None = None,
    progress: Progress | None = None,
    listener: sandboxes.Listener | None = None,
) -> Execution:
    """One command on a throw-away copy of the repository, with the project's Python first on its path.

    `listener` is told what the command writes, as it comes.
    """
    config = config or load(repo)
    with Desk(repo, config) as desk:
        # The command has a limit of its own, which is its to be killed by.
        run = unrecorded(desk, Budget(timeout=WEEK), progress)
        if weakness := desk.weakness():
            run.note(weakness)
        base = _base(desk, run)
        for note in (t.note for t in desk.toolchains(base.tree) if t.note):
            run.note(note)
        limits = Limits(wall_seconds=config.budget.timeout, cpu_seconds=None, output_bytes=16 << 20)
        command = desk.command(argv, base, limits).model_copy(update={"egress": config.sandbox.destinations})
        with sandboxes.heard(listener) if listener else nullcontext():
            return run.perform(Execute(command=command))


def doctor(cache: str = "") -> DoctorReport:
    """What this machine can isolate, probed now."""
    found: Mapping[str, Any] = sandboxes.survey()
    return DoctorReport.model_validate({**found, "user_file": user_path()})


def attack(tell: Callable[[str, str, str], None] | None = None) -> AttackReport:
    """Every known attack on the sandbox that a run would use here; `tell` hears name, outcome and detail of each."""
    return AttackReport.model_validate(sandboxes.attack(tell))


def unrecorded(desk: Desk, budget: Budget, progress: Progress | None) -> Run:
    """A run whose journal is forgotten: nothing lands, so nothing must be resumed or undone."""
    store = MemoryStore()
    store.create("now", "{}", "")
    lease = store.claim("now", "this process", desk.clock.now(), LEASE_SECONDS)
    journal = Journal(store, lease, desk.clock)
    return Run(Shared(run_id="now", world=desk, journal=journal, store=store, tell=progress), budget)


def _changed(desk: Desk, taken: Snapshot) -> Patch:
    """The files that are not as in HEAD, as they are."""
    if not taken.head:
        raise UsageError("there is no commit yet to compare with; leave --changed away")
    space, tree = desk.workspace, taken.tree
    read = {path: space.read(tree, path) for path in space.changed(taken.head, tree)}
    there = {p: FileContent(data=d, executable=space.executable(tree, p)) for p, d in read.items() if d is not None}
    return patch_of({**there})


def _snapshot(run: Run) -> Snapshot:
    taken = run.perform(TakeSnapshot(run_id="check", settled=False))
    if taken.left_out:
        run.note(taken.left_out)
    return taken


def _base(desk: Desk, run: Run) -> Base:
    return run.perform(PrepareBase(tree=_snapshot(run).tree, protection=desk.config.protection))
