"""What the harness adds to a judged round, on a small and on a 20,000-file repository.

A round's own time is what its commands needed, by the sandbox's clock; everything else is overhead: resolving and
applying the proposal, starting sandboxes, journaling, reading results, deciding. A scripted model plays, so no model's
time is in it. Ratios are to the time of a plain `git status` on the same tree in the same run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "flows"))
import small

from referee import api
from referee.actions.execute import Executions
from referee.config import load
from referee.domain.task import Task
from referee.ports import Entry, Execution

ROUNDS = 8
SIZES = (20, 20_000)


def repository(root: Path, files: int) -> Path:
    """The small buggy project among many other files."""
    contents = {"calc.py": small.BUGGY, "tests/test_calc.py": small.TESTS}
    contents |= {f"data/d{n // 500}/f{n}.txt": f"{n}\n" * 50 for n in range(files)}
    return small.build(root, contents)


def play(repo: Path, script: Path) -> list[Entry]:
    """A run of wrong answers, each failing in another way."""
    wrong = [small.content(small.BUGGY.replace("a - b", f"a + b + {n}")) for n in range(1, ROUNDS + 1)]
    model = small.script(script, *wrong)
    flags = {"generator": "model", "models.default": model, "budget.max_steps": ROUNDS, "budget.timeout": 600.0}
    config = load(str(repo), flags=flags, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    return list(api.journal(outcome.report.run_id, str(repo)))


def overheads(entries: list[Entry]) -> list[float]:
    """Milliseconds of each round that no command used."""
    found: list[float] = []
    began, inside = 0.0, 0.0
    for entry in entries:
        if entry.kind != "ended":
            continue
        payload = json.loads(entry.payload)
        if entry.action == "charge_step":
            if found or began:
                found.append((payload["elapsed"] - began) * 1000 - inside)
            began, inside = payload["elapsed"], 0.0
        elif entry.action == "execute":
            inside += Execution.model_validate_json(payload["result"]).duration_ms
        elif entry.action == "execute_warm":
            inside += sum(e.duration_ms for e in Executions.model_validate_json(payload["result"]).items)
    return found


def status_ms(repo: Path) -> float:
    """The best of five `git status`."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(["git", "status", "--porcelain"], cwd=repo, check=True, capture_output=True)
        times.append((time.perf_counter() - began) * 1000)
    return min(times)


def main() -> None:
    """Print one line per size."""
    for files in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            repo = repository(Path(folder).resolve() / "repo", files)
            spent = overheads(play(repo, Path(folder) / "script.jsonl"))
            status = status_ms(repo)
            best, middle = min(spent), statistics.median(spent)
            print(
                f"{files:>6} files: overhead per judged round {best:.1f} ms at best, {middle:.1f} ms median "
                f"of {len(spent)}; git status {status:.1f} ms; ratio {middle / status:.2f}"
            )


if __name__ == "__main__":
    main()
