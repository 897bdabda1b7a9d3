"""The repair as people and programs call it: fix and resume."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

from referee.adapters.store.owner import me
from referee.api import places
from referee.api.environment import explained, remembered
from referee.api.recorder import Recorder, discreet, write_report
from referee.api.spec import Spec, asked_last, has_begun, has_worked, known, rolled_back, sayable, unfinished
from referee.api.stopping import stoppable
from referee.api.usage import counted
from referee.api.workflows import read_workflow
from referee.config import Before, Config, IsolationMode, load
from referee.domain.cost import Budget
from referee.domain.errors import Cancelled, Diverged, Exhausted, Suspended, UsageError, WorldFault
from referee.domain.parts import Parts
from referee.domain.permission import ruled
from referee.domain.preset import PresetName
from referee.domain.question import Asking
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.risk import Risk
from referee.domain.task import Task
from referee.domain.value import Value
from referee.flows.agent import agent as work
from referee.flows.plan import Ended, Plan
from referee.flows.presets import aims, cheaper_by_hand, preflight, quick
from referee.flows.presets import explained as explained_task
from referee.flows.repair import repair
from referee.judge import Bench, with_linter
from referee.kernel.journal import LEASE_SECONDS, Journal
from referee.kernel.policy import Policy
from referee.kernel.run import Run, Shared
from referee.policy import (
    Landings,
    Outgoing,
    ask_about_unjudged,
    ask_before_landing,
    ask_in_words,
    protect,
    sign_outside,
    tool_calls,
    unhidden,
)
from referee.ports import Base, Kind, Lease, Progress, RunRecord
from referee.wiring import Desk, able, errand, evaluator, players

if TYPE_CHECKING:
    from referee.flows.tidy import Tidying


def fix(
    task: Task,
    config: Config | None = None,
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
) -> Outcome:
    """Repair `task.repo`. Raises `UsageError` and `WorldFault` before anything of the user's is touched.

    One run at a time works on a repository: with `wait`, another one is told of and waited for.
    """
    preflight(task)
    return started(Spec(task=task, config=places.absolute(config or load(task.repo))), progress, wait)


def agent(
    task: Task,
    config: Config | None = None,
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
) -> Outcome:
    """Let a model with tools work on `task.text`; its difference lands if the checks pass, else a person decides.

    Raises as `fix` does, and `UsageError` if no model is configured.
    """
    spec = Spec(task=task, config=places.absolute(config or load(task.repo)), flow="agent")
    return started(spec, progress, wait)


def workflow(
    file: str,
    repo: str = ".",
    config: Config | None = None,
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
    *,
    arguments: str = "{}",
) -> Outcome:
    """Run the person's own Python file, whose steps are calls as an agent's; its difference lands as an agent's does.

    A resume runs the file as it was. Raises as `agent` does, and `UsageError` for what is wrong in the file.
    """
    made = read_workflow(file, arguments)
    task = Task(repo=repo, text=f"workflow {made.path}")
    spec = Spec(task=task, config=places.absolute(config or load(repo)), flow="agent", workflow=made)
    return started(spec, progress, wait)


def started(spec: Spec, progress: Progress | None = None, wait: Callable[[str], None] | None = None) -> Outcome:
    """Begin a run of what `spec` asks."""
    with Desk(spec.task.repo, spec.config) as desk:
        run_id = named(desk)
        with desk.turn(f"run {run_id}", wait):
            record, spec = created(desk, spec, run_id)
            return _drive(desk, record, spec, progress)


def named(desk: Desk) -> str:
    """A name for a new run."""
    return f"{datetime.fromtimestamp(desk.clock.now(), UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def created(desk: Desk, spec: Spec, run_id: str) -> tuple[RunRecord, Spec]:
    """A new run in the record, which nobody works on yet, and what it is asked now that this is checked."""
    at = datetime.fromtimestamp(desk.clock.now(), UTC)
    desk.config = places.checked(desk)
    able(desk.config, desk.workspace.root)
    spec = sayable(spec.model_copy(update={"config": desk.config}), desk.redaction)
    desk.store.create(run_id, spec.model_dump_json(), at.isoformat(timespec="milliseconds"))
    return known(desk, run_id), spec


def resume(
    run_id: str,
    repo: str = ".",
    budget: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
    isolation: IsolationMode | None = None,
) -> Outcome:
    """Continue a run where its journal ends, with parts of its budget or its isolation replaced.

    What is paid is not paid again.
    """

    def changed(config: Config) -> Config:
        if budget:
            larger = Budget.model_validate({**config.budget.model_dump(), **budget})
            config = config.model_copy(update={"budget": larger})
        return config.model_copy(update={"isolation": isolation}) if isolation else config

    return drive(run_id, repo, progress, wait, change=changed if budget or isolation else None)


class Hold(Value):
    """How a run is held while it is driven: the lease's seconds, and whether this process listens for a stop itself."""

    seconds: float = LEASE_SECONDS
    listening: bool = True


def drive(
    run_id: str,
    repo: str = ".",
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
    *,
    change: Callable[[Config], Config] | None = None,
    hold: Hold | None = None,
) -> Outcome:
    """Take a run's lease and carry it forward from its journal, whether it ever began or not.

    `change` replaces settings, such as the budget of a run that used it up. Raises `Busy` while others are at it.
    """
    with Desk(repo, load(repo)) as desk:
        known(desk, run_id)
        with desk.turn(f"run {run_id}", wait):
            record = known(desk, run_id)  # as it is now that nobody else works on it
            spec = asked_last(desk, record)
            config = change(spec.config) if change else spec.config
            unfinished(record, config.budget != spec.config.budget)
            if rolled_back(desk, run_id):
                raise UsageError(f"run {run_id} was rolled back; start a new one with `referee fix`")
            if not desk.kept(run_id) and has_begun(desk, run_id):
                raise UsageError(
                    f"what run {run_id} needs was dropped by `referee gc`; start a new one with `referee fix`"
                )
            spec = spec.model_copy(update={"config": asking_now(config, desk.config)})
            desk.config = spec.config
            return _drive(desk, record, spec, progress, hold)


def asking_now(asked: Config, now: Config) -> Config:
    """A run's settings with what is demanded of people today: what counts as a signature may have changed."""
    before = max(asked.ask_before_landing, now.ask_before_landing, key=lambda b: b.rank)
    return asked.model_copy(update={"signing": now.signing, "ask_before_landing": before})


def _drive(desk: Desk, record: RunRecord, spec: Spec, progress: Progress | None, hold: Hold | None = None) -> Outcome:
    """Hold the lease for as long as this process works on the run, however that ends."""
    hold = hold or Hold()
    lease = desk.store.claim(record.run_id, me(), desk.clock.now(), hold.seconds)
    try:
        recorder = Recorder(record, spec.task, spec.config, desk.clock)
        journal = Journal(desk.store, lease, desk.clock, hold.seconds)
        with stoppable(desk.store, lease) if hold.listening else nullcontext(Event()) as stop, journal.kept():
            run = _open(desk, journal, spec, recorder.listening(progress), stop)
            outcome = _told(desk, lease, spec, recorder, run)
        run.progress("ended", {"outcome": outcome})
        return outcome
    finally:
        desk.store.release(lease)


def _told(desk: Desk, lease: Lease, spec: Spec, recorder: Recorder, run: Run) -> Outcome:
    """Run the repair and write the report; on a fault or a cancellation the run stays resumable."""
    try:
        for words in (*desk.recovered, *spec.config.notes, _switched_off(spec.config.parts), desk.weakness()):
            if words:
                run.note(words)
        ended = play(desk, spec, run)
        places.keep(run, ended, desk.reports)
        if spec.config.land == "pr":
            body = places.body(recorder.outcome(run, ended, desk.stamp()).report)
            ended = places.publish(run, desk.workspace, ended, spec, body)
        run.close()
        outcome = counted(desk.store, run.id, recorder.outcome(run, ended, desk.stamp()))
        places.hand_over(outcome, spec.config.land, recorder.diff)
    except Cancelled:
        run.stopped(lease.fence)
        desk.workspace.recover()  # a landing that was cut off ends whole or not at all, now rather than later
        outcome = recorder.cut_short(
            StopReason.HUMAN_ABORT, f"stopped; `referee resume {run.id}` goes on", run.view, desk.stamp()
        )
        outcome = counted(desk.store, run.id, recorder.as_landed(outcome, desk.workspace.landed(run.id)))
        write_report(desk.reports, outcome, desk.redaction)
        return outcome
    except Suspended as waits:
        outcome = counted(desk.store, run.id, recorder.waiting(run, waits, desk.stamp()))
        write_report(desk.reports, outcome, desk.redaction, recorder.diff)
        desk.store.finish(lease, "waiting", "")
        return outcome
    except UsageError as wrong:
        if has_worked(desk, run.id):
            raise UsageError(f"{wrong}; when that is mended, `referee resume {run.id}` goes on") from wrong
        desk.store.finish(lease, "done", "")
        raise
    except Diverged as other:
        raise explained(desk, run.id, other) from other
    except WorldFault as fault:
        outcome = recorder.cut_short(StopReason.WORLD_FAULT, str(fault), run.view, desk.stamp())
        write_report(desk.reports, outcome, desk.redaction)
        raise
    write_report(desk.reports, outcome, desk.redaction, recorder.diff)
    desk.store.finish(lease, "done", discreet(outcome, desk.redaction).model_dump_json())
    return outcome


def play(desk: Desk, spec: Spec, run: Run) -> Ended:
    """The flow that the run is for."""
    if spec.proposal is not None:
        from referee.flows.propose import propose  # each flow is loaded for the runs that are for it

        return propose(run, spec.proposal)
    if spec.tidy:
        from referee.flows.tidy import tidy

        return tidy(run, tidying(desk, land=True))
    plan = _plan(desk, spec, run.id)
    if spec.flow == "agent":
        return work(run, errand(desk, plan, spec.workflow))
    if spec.config.preset is PresetName.TESTS:
        from referee.flows.complete import complete

        return complete(run, plan, lambda _, base: _untargeted(desk, base))
    ended = repair(run, plan)
    if spec.config.preset is PresetName.BUGFIX and ended.solved and ended.snapshot is not None:
        words = cheaper_by_hand(ended, run.diff(ended.snapshot.tree, ended.tree))
        if words:
            run.note(words)
    return ended


def _switched_off(parts: Parts) -> str:
    """What a reader of the record must know about a run without all of the shell; else empty."""
    return f"an experiment: without {', '.join(parts.off)}" if parts.off else ""


def _open(desk: Desk, journal: Journal, spec: Spec, progress: Progress, stop: Event) -> Run:
    lease = journal.lease
    journal.check(known(desk, lease.run_id).head)
    facts = {
        "spec": json.loads(spec.model_dump_json()),
        "elapsed": journal.elapsed,
        "environment": remembered(desk, lease.run_id),
    }
    journal.note(f"run:{lease.fence}", Kind.OPENED, facts)
    shared = Shared(
        run_id=lease.run_id,
        world=desk,
        journal=journal,
        store=desk.store,
        policies=policies(desk, spec),
        tell=progress,
        stop=stop,
    )
    return Run(shared, spec.config.budget)


def policies(desk: Desk, spec: Spec) -> tuple[Policy, ...]:
    config = spec.config
    before, signing = config.ask_before_landing, config.signing
    free = spec.proposal is not None or ruled(config.permissions, "http", "", Risk.EGRESS).then == "allow"
    outgoing = Outgoing(
        demand=signing.demand,
        seconds=signing.minutes * 60,
        domains=tuple(config.sandbox.allow_domains) if free else (),
    )
    landings = Landings(
        kind=Asking.APPROVAL if before is Before.NEVER else Asking(before.value),
        requester=f"referee fix, generator {config.generator}",
        demand=signing.demand,
        seconds=signing.minutes * 60,
    )
    always = (
        protect(config.protection),
        unhidden(desk.redaction),
        sign_outside(outgoing, desk.outside),
        tool_calls(config.permissions, landings),
        ask_about_unjudged(landings, desk.workspace.diff),
        ask_in_words(f"the agent of a run, model {config.models.default}"),
    )
    return always if before is Before.NEVER else (*always, ask_before_landing(landings, desk.workspace.diff))


def tidying(desk: Desk, *, land: bool) -> Tidying:
    """What tidying the repository is given."""

    def prepare(run: Run, base: Base) -> Bench:
        settings = desk.settings()
        project = with_linter(run, desk.project(base.tree), settings)
        return Bench(project=project, base=base, settings=settings)

    from referee.flows.tidy import Tidying

    return Tidying(protection=desk.config.protection, prepare=prepare, land=land)


def _untargeted(desk: Desk, base: Base) -> Bench:
    """The judge without anything to mend. Raises `UsageError` where there is no pytest to run tests with."""
    project = desk.project(base.tree)
    if "pytest" not in project.interpreter.distributions:
        raise UsageError(project.note or f"{project.interpreter.executable} has no pytest to run new tests with")
    return Bench(project=project, base=base, settings=desk.settings())


def _bench(desk: Desk, spec: Spec, run: Run, base: Base) -> Bench:
    """The judge for what the run aims at, checked on the unmodified tree."""
    on = (desk.project(base.tree, spec.task.targets), base, desk.settings())
    try:
        return quick(desk.prepare(run, base, aims(run, spec.config.preset, spec.task, on)))
    except Exhausted as spent:
        raise explained_task(spent, spec.task) from None


def _plan(desk: Desk, spec: Spec, run_id: str) -> Plan:
    return Plan(
        task=spec.task,
        protection=spec.config.protection,
        prepare=lambda run, base: _bench(desk, spec, run, base),
        players=lambda bench: players(bench, spec.config),
        place=places.place(spec.config.land, run_id),
        doubtful=spec.config.allow_overfitted,
        evaluator=evaluator(spec.config),
        parts=spec.config.parts,
    )
