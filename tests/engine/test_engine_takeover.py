"""A worker dies in the middle: every run ends once, and hardly a step is done twice."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import engine_loads
import psycopg
from engine_loads import Start, lines, until

from referee.adapters.store.postgres import PostgresStore
from referee.kernel.journal import check_chain

RUNS = int(os.environ.get("REFEREE_RUNS", "10"))  # 400 is the bar; it takes minutes
STEPS, SLOTS = 15, 2


def at_work(queue: str, worker: int) -> bool:
    """Whether a child of that worker has a run: the worker started what starts them."""
    with psycopg.connect(queue) as db:
        owners = [row[0] for row in db.execute("select owner from referee.run where owner <> ''")]
    pids = [int(found[1]) for owner in owners if (found := re.match(r"process (\d+) ", owner))]
    return worker in {parent(parent(pid)) for pid in pids}


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return 0


def watched(store: PostgresStore, worker: subprocess.Popen[bytes]) -> float:
    """The longest time in seconds, until the worker leaves, for which a run that had begun had nobody."""
    since: dict[str, float] = {}
    longest = 0.0
    while worker.poll() is None:
        idle = {r.run_id for r in store.runs() if r.status == "stopped" and r.fence}
        since = {run: since.get(run, time.monotonic()) for run in idle}
        longest = max([longest, *(time.monotonic() - began for began in since.values())])
        time.sleep(0.05)
    return longest


def test_a_killed_workers_runs_end_once_elsewhere(queue: str, worker: Start, tmp_path: Path) -> None:
    log, names = tmp_path / "steps.log", [f"r{n:04}" for n in range(RUNS)]
    engine_loads.fill(queue, str(log), names, steps=STEPS, seconds=0.05)
    first, second = worker("first", SLOTS), worker("second", SLOTS)
    until(lambda: sum(line.endswith(" end") for line in lines(log)) >= 0.4 * RUNS and at_work(queue, first.pid), first)
    os.kill(first.pid, signal.SIGKILL)
    store = PostgresStore(queue)
    longest = watched(store, second)
    assert second.wait() == 0, (tmp_path / "worker-second.log").read_text()
    print(f"the longest that a run lay idle between two workers: {longest:.2f} s")
    assert longest <= (10 if "REFEREE_RUNS" in os.environ else 60)
    times = Counter(lines(log))
    assert {r.run_id for r in store.runs() if r.status == "done"} == set(names)
    assert [times[f"{name} end"] for name in names] == [1] * RUNS
    repeated = sum(n - 1 for n in times.values())
    print(f"{repeated} of {RUNS * STEPS} steps were done twice")
    assert longest > 0, "something was cut off"
    assert repeated <= SLOTS, "each slot of the dead worker had one step under way"
    for record in store.runs():
        entries = store.entries(record.run_id)
        assert check_chain(entries, record.head) is None
        assert sum(e.kind.value == "ended" and '"outcome":"done"' in e.payload for e in entries) == STEPS
    store.close()
