"""The repair as people and programs call it: fix and resume."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from referee.adapters.store.owner import me
from referee.api.recorder import Recorder, write_report, write_whole
from referee.api.spec import Spec, known, unfinished
from referee.config import Config, load
from referee.domain.cost import Budget
from referee.domain.errors import Cancelled, UsageError, WorldFault
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.flows.plan import Plan
from referee.flows.repair import repair
from referee.kernel.journal import LEASE_SECONDS, Journal
from referee.kernel.run import Run, Shared
from referee.policy import protect
from referee.ports import Kind, Lease, Progress
from referee.wiring import Desk, players


def fix(task: Task, config: Config | None = None, progress: Progress | None = None) -> Outcome:
    """Repair `task.repo`. Raises `UsageError` and `WorldFault` before anything of the user's is touched."""
    config = config or load(task.repo)
    _supported(config)
    with Desk(task.repo, config) as desk:
        at = datetime.fromtimestamp(desk.clock.now(), UTC)
        run_id = f"{at:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        spec = Spec(task=task, config=config)
        desk.store.create(run_id, spec.model_dump_json(), at.isoformat(timespec="milliseconds"))
        return _drive(desk, run_id, spec, progress)


def resume(
    run_id: str, repo: str = ".", budget: Mapping[str, Any] | None = None, progress: Progress | None = None
) -> Outcome:
    """Continue a run where its journal ends, with parts of its budget replaced. What is paid is not paid again."""
    with Desk(repo, load(repo)) as desk:
        record = known(desk, run_id)
        unfinished(record, bool(budget))
        spec = Spec.model_validate_json(record.spec)
        if budget:
            larger = Budget.model_validate({**spec.config.budget.model_dump(), **budget})
            spec = spec.model_copy(update={"config": spec.config.model_copy(update={"budget": larger})})
        desk.config = spec.config
        return _drive(desk, run_id, spec, progress)


def _drive(desk: Desk, run_id: str, spec: Spec, progress: Progress | None) -> Outcome:
    """Hold the lease, run the repair, write the report; on a fault or a cancellation the run stays resumable."""
    lease = desk.store.claim(run_id, me(), desk.clock.now(), LEASE_SECONDS)
    recorder = Recorder(run_id, spec.task, spec.config, desk.clock)
    run = _open(desk, lease, spec, recorder.listening(progress))
    try:
        for words in (*desk.recovered, *spec.config.notes):
            run.note(words)
        outcome = recorder.outcome(run, repair(run, _plan(desk, spec)), desk.stamp())
    except Cancelled:
        desk.workspace.recover()  # a landing that was cut off ends whole or not at all, now rather than later
        outcome = recorder.cut_short(
            StopReason.HUMAN_ABORT, f"stopped; `referee resume {run_id}` goes on", run.view, desk.stamp()
        )
    except UsageError:
        desk.store.finish(lease, "done", "")
        raise
    except WorldFault as fault:
        outcome = recorder.cut_short(StopReason.WORLD_FAULT, str(fault), run.view, desk.stamp())
        write_report(desk.reports, outcome)
        desk.store.release(lease)
        raise
    write_report(desk.reports, outcome)
    if outcome.stop_reason is StopReason.HUMAN_ABORT:
        desk.store.release(lease)
    else:
        _hand_over(outcome, spec.config)
        desk.store.finish(lease, "done", outcome.model_dump_json())
    run.progress("ended", {"outcome": outcome})
    return outcome


def _open(desk: Desk, lease: Lease, spec: Spec, progress: Progress) -> Run:
    journal = Journal(desk.store, lease, desk.clock)
    journal.note("run", Kind.OPENED, {"spec": json.loads(spec.model_dump_json())})
    shared = Shared(
        run_id=lease.run_id,
        world=desk,
        journal=journal,
        store=desk.store,
        policies=(protect(spec.config.protection),),
        tell=progress,
    )
    return Run(shared, spec.config.budget)


def _plan(desk: Desk, spec: Spec) -> Plan:
    return Plan(
        task=spec.task,
        protection=spec.config.protection,
        prepare=lambda run, base: desk.prepare(run, base, spec.task.targets),
        players=lambda bench: players(bench, spec.config),
        land=spec.config.land == "tree",
    )


def _supported(config: Config) -> None:
    if config.land != "tree" and config.land != "none" and not config.land.startswith("patch:"):
        raise UsageError(f"--land {config.land} is not available yet; use tree, patch:FILE or none")


def _hand_over(outcome: Outcome, config: Config) -> None:
    """A patch file is the one thing besides the user's tree that a solved run writes for the user."""
    if outcome.solved and config.land.startswith("patch:"):
        write_whole(config.land.removeprefix("patch:"), outcome.diff)
