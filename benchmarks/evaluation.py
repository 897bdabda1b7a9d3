"""The report in `benchmarks/report`: `python benchmarks/evaluation.py REPOS [--out DIR] [--until HH:MM] [-j N]`.

REPOS is a folder with clones of boltons, click and sqlparse. The tasks are in `benchmarks/report/bugs.jsonl`: 60 fixes,
twenty of each size, in an order that was drawn before anything was played, so that its beginning is a sample of the
whole. The stages below say who plays what; each goes on where it was stopped, and a stage whose trials are all there
takes seconds. What was played is in `benchmarks/report/bugs-PLAYER.md`, `.html` and `.json`, written anew each time.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent / "report"
TASKS = HERE / "bugs.jsonl"
SUBSET = 12  # of the tasks, the first ones, are repeated
# Seconds of C and D. The search has fewer than a user would give it, for the table to be done in a night.
SECONDS = {"adversary": "240", "search": "90"}


@dataclass(frozen=True)
class Stage:
    """The tasks from the `first` to before the `last`, under `configs`, `repeats` times."""

    player: str
    first: int
    last: int
    configs: str = "A,B,C,D"
    repeats: int = 1


STAGES = (
    Stage("adversary", 0, 6),
    Stage("search", 0, 6, "A,D"),
    Stage("adversary", 6, SUBSET),
    Stage("search", 6, SUBSET, "A,D"),
    Stage("adversary", 0, SUBSET, repeats=5),
    Stage("search", 0, SUBSET),
    Stage("adversary", SUBSET, 60),
    Stage("search", SUBSET, 60),
    Stage("adversary", 0, SUBSET, "D@2,D@4,D@6,D@12,D@16"),
    Stage("search", 0, SUBSET, "D@2,D@4,D@6,D@12,D@16"),
)


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("repos")
    parser.add_argument("--out", default="evaluation", help="where the trials are kept")
    parser.add_argument("--until", default="", help="when to stop playing and write, by this machine's clock")
    parser.add_argument("-j", default="1")
    asked = parser.parse_args()
    names = [f"{t['key']}-{t['fix'][:10]}" for t in map(json.loads, TASKS.read_text().splitlines())]
    end = _clock(asked.until)
    for stage in STAGES:
        if not _played(stage, names[stage.first : stage.last], asked, end):
            break
    for player in SECONDS:
        if Path(f"{asked.out}/{player}/summary.json").exists():
            forms = [w for form in ("md", "html", "json") for w in ("-o", str(HERE / f"bugs-{player}.{form}"))]
            subprocess.run(_bench("report", f"{asked.out}/{player}", *forms), check=True)


def _clock(text: str) -> float:
    """Seconds from now until the next time the clock shows it; endless without one."""
    if not text:
        return float("inf")
    now = datetime.now().astimezone()
    hour, minute = map(int, text.split(":"))
    then = now.replace(hour=hour, minute=minute, second=0)
    return time.monotonic() + (then + timedelta(days=then < now) - now).total_seconds()


def _played(stage: Stage, names: list[str], asked: argparse.Namespace, end: float) -> bool:
    """Whether the stage came to its end; one that must stop is stopped as by Ctrl-C, and can be gone on with."""
    only = [word for name in names for word in ("--only", name)]
    command = _bench(
        "run", str(TASKS), "--player", stage.player, "--repos", asked.repos, "--out", f"{asked.out}/{stage.player}",
        "--timeout", SECONDS[stage.player], "--repeats", str(stage.repeats), "-j", asked.j, "--configs", stage.configs,
        *only,
    )  # fmt: skip
    left = end - time.monotonic()
    if left <= 0:
        return False
    with subprocess.Popen(command) as playing:
        try:
            code = playing.wait(None if left == float("inf") else left)
        except subprocess.TimeoutExpired:
            playing.send_signal(signal.SIGINT)
            playing.wait()
            return False
    if code:
        raise SystemExit(code)
    return True


def _bench(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "referee", "bench", *arguments]


if __name__ == "__main__":
    main()
