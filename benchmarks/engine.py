"""What a shared journal and a queue cost: `python benchmarks/engine.py [runs] [seconds a step waits]`.

Three tables: a step's overhead in SQLite and in PostgreSQL, which wait for the disk both; how much sooner two workers
are done than one where steps wait, as for a model; and what a worker and its children keep in memory. It starts a
PostgreSQL of its own, and needs the extra dbos.
"""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "engine")]

import engine_loads  # noqa: E402 - where its loads are is known only now
import psycopg  # noqa: E402

import postgres_server  # noqa: E402
from referee.adapters.clock import SystemClock  # noqa: E402
from referee.adapters.engine.line import migrate  # noqa: E402
from referee.adapters.store import SqliteStore  # noqa: E402
from referee.adapters.store.owner import me  # noqa: E402
from referee.adapters.store.postgres import PostgresStore  # noqa: E402
from referee.domain.cost import Budget  # noqa: E402
from referee.kernel.journal import Journal  # noqa: E402
from referee.kernel.run import Run, Shared  # noqa: E402
from referee.ports import Store  # noqa: E402
from referee.testing.world import FakeEquipment  # noqa: E402

STEPS = 300
SLOTS = 4


def overhead(store: Store, log: str) -> list[float]:
    """Milliseconds for each of many steps that do next to nothing."""
    store.create("overhead", "{}", "t")
    journal = Journal(store, store.claim("overhead", me(), time.time(), 60), SystemClock())
    world = FakeEquipment(None, None, clock=SystemClock())
    run = Run(Shared(run_id="overhead", world=world, journal=journal, store=store), Budget(timeout=100_000))
    took = []
    for number in range(STEPS):
        began = time.perf_counter()
        run.perform(engine_loads.Tick(run="overhead", number=number, seconds=0, log=log))
        took.append((time.perf_counter() - began) * 1000)
    return took


def synced(folder: Path) -> list[float]:
    """Milliseconds for a small append that waits for the disk: what no journal can do without."""
    took = []
    with open(folder / "synced", "ab") as file:
        for _ in range(STEPS):
            began = time.perf_counter()
            file.write(b"x" * 500)
            file.flush()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return took


def steps(address: str, folder: Path) -> None:
    made: dict[str, Callable[[], list[float]]] = {
        "append and sync": lambda: synced(folder),
        "SQLite": lambda: overhead(SqliteStore(str(folder / "state")), str(folder / "log")),
        "PostgreSQL": lambda: overhead(PostgresStore(address), str(folder / "log")),
    }
    print(f"{'overhead of a step, ms':<24} {'best':>7} {'median':>7} {'p95':>7}   ({STEPS} steps)")
    for name, measure in made.items():
        took = sorted(measure())
        print(f"{name:<24} {took[0]:7.2f} {statistics.median(took):7.2f} {took[int(0.95 * STEPS)]:7.2f}")


def start(address: str, name: str, folder: Path) -> subprocess.Popen[bytes]:
    """A worker that is ready."""
    log = folder / f"{name}.log"
    code = f"import engine_loads; engine_loads.serve({name!r}, {SLOTS}, until_idle=False)"
    env = {**os.environ, "REFEREE_DATABASE": address, "PYTHONPATH": str(TESTS / "engine")}
    with open(log, "wb") as out:
        worker = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=out, stderr=out, start_new_session=True)
    while b"takes up to" not in log.read_bytes():
        assert worker.poll() is None, log.read_text()
        time.sleep(0.1)
    return worker


def throughput(address: str, count: int, runs: int, seconds: float, folder: Path) -> tuple[float, list[str]]:
    """Runs a second of so many workers, and what they keep in memory."""
    workers = [start(address, f"w{count}{n}", folder) for n in range(count)]
    try:
        return played(address, (count, runs, seconds), workers[0].pid, folder)
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait()


def played(address: str, asked: tuple[int, int, float], worker: int, folder: Path) -> tuple[float, list[str]]:
    """Queue the runs and wait until they are done; the memory is that of `worker` at its fullest."""
    count, runs, seconds = asked
    names = [f"{count}-{n:05}" for n in range(runs)]
    engine_loads.fill(address, str(folder / f"steps{count}"), names, steps=10, seconds=seconds)
    with psycopg.connect(address, autocommit=True) as db:
        seen: list[str] = []
        while True:
            done, first, last = db.execute(
                "select count(*) filter (where status = 'done'), "
                "(select min(at) from referee.entry where run_id like %(p)s), "
                "(select max(at) from referee.entry where run_id like %(p)s) "
                "from referee.run where run_id like %(p)s",
                {"p": f"{count}-%"},
            ).fetchone()
            if done >= runs // 2 or runs <= SLOTS:
                now = memory(worker)
                seen = max(seen, now, key=len)  # with as many children as ever
            if done == runs:
                break
            time.sleep(0.2)
        took = db.execute("select extract(epoch from %s::timestamptz - %s::timestamptz)", (last, first)).fetchone()[0]
    return runs / float(took), seen


def memory(worker: int) -> list[str]:
    """Proportional and private megabytes of a worker and of everything below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                below.setdefault(parent, []).append(int(entry.name))
    rows, todo = [], [(worker, "worker")]
    while todo:
        pid, what = todo.pop(0)
        with suppress(OSError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            pss, *private = (
                int(re.search(rf"{k}:\s+(\d+)", text)[1]) for k in ("Pss", "Private_Clean", "Private_Dirty")
            )
            rows.append(f"{what:<24} {pss / 1024:7.1f} {sum(private) / 1024:7.1f}")
        todo += [(child, "below the worker" if what == "worker" else "a run") for child in below.get(pid, [])]
    return rows


def main(runs: int, seconds: float) -> None:
    programs = postgres_server.programs()
    assert programs, "PostgreSQL is not installed"
    with (
        postgres_server.running(programs, safe=True) as address,
        tempfile.TemporaryDirectory(prefix="referee-engine-") as name,
    ):
        folder = Path(name)
        PostgresStore.migrate(address)
        migrate(address)
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        steps(address, folder)
        rates = {}
        for count in (1, 2):
            rates[count], seen = throughput(address, count, runs, seconds, folder)
        ideal = SLOTS / (10 * seconds)
        print(f"\n{runs} runs of 10 steps that wait {seconds} s, {SLOTS} slots a worker, load {os.getloadavg()[0]:.1f}")
        print(f"{'workers':<24} {'runs/s':>7} {'of what slots allow':>20}")
        for count, rate in rates.items():
            print(f"{count:<24} {rate:7.2f} {rate / (count * ideal):20.0%}")
        print(f"two against one: {rates[2] / rates[1]:.2f}\n\n{'memory, MB':<24} {'Pss':>7} {'private':>7}")
        print("\n".join(seen))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60, float(sys.argv[2]) if len(sys.argv) > 2 else 0.5)
