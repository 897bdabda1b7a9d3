"""What a trial leaves: its report, its result, and what its models said."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from referee.api.recorder import write_whole
from referee.api.usage import replies
from referee.config import load
from referee.domain.errors import UsageError
from referee.domain.report import Report
from referee.evals.summary import Summary, summarise
from referee.evals.trial import Result, Trial
from referee.wiring import Desk

SKIPPED, SUMMARY = "skipped", "summary.json"


@dataclass(frozen=True, kw_only=True)
class Played:
    """A trial that was played to its end, or refused."""

    result: Result
    report: Report


def replies_of(repo: str, run_id: str) -> Sequence[str]:
    """Which model gave each answer of a run, in order."""
    with Desk(repo, load(repo)) as desk:
        return [reply.model for reply in replies(desk.store, run_id)]


def read_results(out: str) -> tuple[Result, ...]:
    """The results of every trial in a folder, by id; none if there is no such folder."""
    root = os.path.join(out, "trials")
    found = []
    for folder, names, files in os.walk(root):
        names.sort()
        if "trial.json" in files:
            with open(os.path.join(folder, "trial.json"), "rb") as file:
                found.append(Result.model_validate_json(file.read()))
    return tuple(found)


def read_summary(out: str) -> Summary:
    """The summary of a folder, made anew of the trials that are there, or a summary's own file.

    Raises `UsageError` if there is none.
    """
    path = out if os.path.isfile(out) else os.path.join(out, SUMMARY)
    try:
        with open(path, "rb") as file:
            kept = Summary.model_validate_json(file.read())
    except OSError:
        raise UsageError(f"{path} is missing; make it with: referee bench run TASKS --out {out}") from None
    except ValueError as wrong:
        raise UsageError(f"{path} is no summary of this version: {str(wrong).splitlines()[0]}") from None
    results = () if os.path.isfile(out) else read_results(out)
    told = {name: getattr(kept, name) for name in ("player", "simulated", "asked", "machine")}
    return summarise(results, {**told, "skipped": left_out(out)}) if results else kept


def left_out(out: str) -> dict[str, str]:
    """The tasks that were left out, each with the reason."""
    folder = os.path.join(out, SKIPPED)
    found = {}
    for task in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        with open(os.path.join(folder, task), encoding="utf-8") as file:
            found[task] = file.read()
    return found


def place(out: str, trial: Trial) -> str:
    """The folder of what is kept of a trial."""
    return os.path.join(out, "trials", trial.task, trial.config, str(trial.repeat))


def keep(out: str, played: Played) -> None:
    """Write the report and then the result: a trial with a result is done."""
    folder = place(out, played.result.trial)
    os.makedirs(folder, exist_ok=True)
    write_whole(os.path.join(folder, "report.json"), played.report.model_dump_json(indent=2).encode() + b"\n")
    write_whole(os.path.join(folder, "trial.json"), played.result.model_dump_json(indent=2).encode() + b"\n")
