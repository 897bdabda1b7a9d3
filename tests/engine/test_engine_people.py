"""What people want of queued runs: some sooner than others, an end at once, and no slot for what waits for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import engine_loads
import pytest
from engine_loads import Start, lines, until

from referee.adapters.clock import SystemClock
from referee.adapters.engine.line import Line
from referee.adapters.engine.work import Work
from referee.adapters.store.postgres import PostgresStore
from referee.api.stopping import ask_to_stop


def gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_the_lower_number_comes_first_and_what_is_dropped_never(queue: str, worker: Start, tmp_path: Path) -> None:
    log = tmp_path / "steps.log"
    store, line = PostgresStore(queue), Line(queue)
    for name, priority in (("late", 200), ("soon", 1), ("usual", 100), ("dropped", 1)):
        store.create(name, json.dumps({"steps": 1, "seconds": 0}), name)
        work = Work(what=name, place="/loads", priority=priority, more=str(log))
        assert line.put(work) == line.put(work), "what is queued already is not queued twice"
    assert line.drop("dropped") and not line.drop("dropped")
    line.close()
    assert worker("only", 1).wait() == 0
    assert [text.split()[0] for text in lines(log) if text.endswith(" end")] == ["soon", "usual", "late"]
    assert {r.run_id: r.fence for r in store.runs()} == {"soon": 1, "usual": 1, "late": 1, "dropped": 0}
    store.close()


def test_a_stop_ends_even_what_does_not_listen_with_all_it_started(queue: str, worker: Start, tmp_path: Path) -> None:
    log = tmp_path / "pids.log"
    engine_loads.fill(queue, str(log), ["deaf"])
    working = worker("only", 1, "stubborn")
    until(lambda: bool(lines(log)), working)
    pids = lines(log)[0].split()
    assert not any(map(gone, pids))
    store = PostgresStore(queue)
    record = store.run("deaf")
    assert record is not None and record.status == "running"
    ask_to_stop(store, record, SystemClock())
    asked = time.monotonic()
    until(lambda: all(map(gone, pids)), working)
    took = time.monotonic() - asked
    print(f"stopped after {took:.2f} s")
    assert took <= (2 if "REFEREE_RUNS" in os.environ else 30)
    assert working.wait() == 0, "and its slot is free"
    store.close()


def test_the_embedded_mode_imports_nothing_of_the_engine() -> None:
    code = (
        "import sys\nfrom referee import api, cli\nimport referee.wiring, referee.api.engine, referee.evals.functions\n"
        "import referee.cli.app\n"
        "print(sorted(m for m in sys.modules if m.partition('.')[0] in ('dbos', 'sqlalchemy', 'psycopg')))"
    )
    env = {k: v for k, v in os.environ.items() if k != "REFEREE_DATABASE"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_engine_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.domain.errors import UsageError

    monkeypatch.setitem(sys.modules, "dbos", None)
    with pytest.raises(UsageError, match=r"pip install 'referee\[dbos\]'"):
        Line("postgresql://nobody@nowhere/none")
