"""Tasks begun at a time: once, at intervals, or as cron has it; what was missed is counted, never made up for."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from referee.domain.value import Value

LEAST = 300  # seconds between two runs
_EVERY = re.compile(r"every (\d{1,6})\s*(s|m|h|d)")
_UNIT = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_MOST_COUNTED = 10_000
FORMS = (
    "a time such as 2030-12-31T09:00 (UTC), 'every 30m' (at least 5 minutes), or five cron fields such as '0 6 * * 1'"
)


class Last(Value):
    """How the last run ended. `began` is in seconds since the epoch; `run_id` is empty if none could begin."""

    began: float
    run_id: str = ""
    words: str = ""


class Planned(Value):
    """A task and when it is begun. `due` is in seconds since the epoch, None when it is over.

    `missed` counts the times at which nobody was there to begin it, since it last ran.
    """

    id: str
    when: str
    task: str
    flow: Literal["agent", "fix"] = "agent"
    targets: tuple[str, ...] = ()
    due: float | None
    missed: int = 0
    last: Last | None = None
    by: str = ""  # the place in an agent's run that planned it; empty if a person did


def planned(when: str, task: str, now: float, flow: Literal["agent", "fix"], targets: tuple[str, ...] = ()) -> Planned:
    """A new entry. Raises `ValueError` in words for a time that cannot be, or is over."""
    due = following(when, now)
    if due is None:
        raise ValueError(f"{when} is over; give a time to come")
    tail = hashlib.sha256(f"{when}\n{task}\n{now}".encode()).hexdigest()[:4]
    words = re.findall(r"[a-z0-9]+", task.lower())[:4]
    name = f"{'-'.join(words)[:30].strip('-') or 'task'}-{tail}"
    return Planned(id=name, when=when, task=task, flow=flow, targets=targets, due=due)


def following(when: str, after: float) -> float | None:
    """The first time after `after`, in seconds since the epoch; None if there is none. Raises `ValueError` in words."""
    every = _EVERY.fullmatch(when.strip())
    if every:
        seconds = int(every[1]) * _UNIT[every[2]]
        if seconds < LEAST:
            raise ValueError(f"{when} is too often; at least {LEAST} seconds must lie between two runs")
        return after + seconds
    if len(when.split()) == 5:
        return _cron(when, after)
    try:
        moment = datetime.fromisoformat(when.strip())
    except ValueError:
        raise ValueError(f"{when!r} is no time; give {FORMS}") from None
    at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return at if at > after else None


def _cron(when: str, after: float) -> float | None:
    from cronsim import CronSim, CronSimError  # slow to load, and rarely needed

    try:
        times = CronSim(when, datetime.fromtimestamp(after, UTC))
        first, second = next(times), next(times)
    except CronSimError as wrong:
        raise ValueError(f"{when!r} is no cron line: {wrong}; give {FORMS}") from None
    except StopIteration:
        return None
    if second - first < timedelta(seconds=LEAST):
        raise ValueError(f"{when} is too often; at least {LEAST} seconds must lie between two runs")
    return float(first.timestamp())


def begun(entry: Planned, now: float) -> Planned | None:
    """The entry once it is begun at `now`: its next time lies ahead, what passed unused is counted. None if not due.

    However many times were missed, it is begun once.
    """
    if entry.due is None or entry.due > now:
        return None
    missed, due = 0, following(entry.when, entry.due)
    while due is not None and due <= now:
        missed += 1
        due = following(entry.when, due) if missed < _MOST_COUNTED else following(entry.when, now)
    return entry.model_copy(update={"due": due, "missed": missed})
