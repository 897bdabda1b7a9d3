"""The report in `benchmarks/report`: `python benchmarks/evaluation.py REPOS [--tasks NAME] [-j N] [--only TASK ...]`.

REPOS is a folder with a clone of boltons (for the tasks `boltons`) or the source archives of click (for `click`): those
tasks are in `benchmarks/report/NAME.jsonl`, fixed before anything was played. Both players try them under all four
configurations. Run it again to go on. What was played is in `benchmarks/report/NAME-PLAYER.md`, `.html` and `.json`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "report"
PLAYERS = ("adversary", "search")
SECONDS = "600"  # of C and D: with the ordinary 240 a busy machine would decide


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repos")
    parser.add_argument("--tasks", default="boltons", choices=sorted(p.stem for p in HERE.glob("*.jsonl")))
    parser.add_argument("--out", default="evaluation", help="where the trials are kept")
    parser.add_argument("-j", default="1")
    parser.add_argument("--repeats", default="1")
    parser.add_argument("--configs", default="A,B,C,D")
    parser.add_argument("--only", action="append", default=[])
    asked = parser.parse_args()
    only = [word for task in asked.only for word in ("--only", task)]
    for player in PLAYERS:
        out = f"{asked.out}/{asked.tasks}-{player}"
        referee(
            *("run", str(HERE / f"{asked.tasks}.jsonl"), "--player", player, "--repos", asked.repos, "--out", out),
            *("--timeout", SECONDS, "--repeats", asked.repeats, "-j", asked.j, "--configs", asked.configs, *only),
        )
        stem = HERE / f"{asked.tasks}-{player}"
        referee("report", out, "-o", f"{stem}.md", "-o", f"{stem}.html", "-o", f"{stem}.json")


def referee(*arguments: str) -> None:
    """One `referee bench` command, shown as it runs."""
    subprocess.run([sys.executable, "-m", "referee", "bench", *arguments], check=True)


if __name__ == "__main__":
    main()
