"""SIGKILL again and again while an agent works: every step is done once, whatever was cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import small

STEPS = 40
KILLS = int(os.environ.get("REFEREE_KILLS", "4"))


def lines(step: int) -> dict[str, object]:
    """One answer: append a line by a command, another by a tool, and look."""
    bash = {"name": "bash", "arguments": {"command": f"echo {step} >> log.txt", "why": "to count"}}
    write = {"name": "write", "arguments": {"path": f"made/{step}.txt", "content": f"{step}\n"}}
    note = {"name": "note", "arguments": {"text": f"step {step}"}}
    return {"role": "agent", "content": "", "tool_calls": [bash, write, note], "cost_usd": 0.001, "output_tokens": 10}


def referee(repo: Path, *args: str) -> subprocess.Popen[bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": str(repo.parent), "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "referee", *args, "--repo", str(repo), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)


def journal(repo: Path) -> list[dict[str, object]]:
    path = repo / ".harness/journal.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def done(repo: Path) -> int:
    return sum(e["action"] == "call_tool" and e["kind"] == "ended" for e in journal(repo))


def killed(repo: Path, at: tuple[int, ...], *command: str) -> dict[str, Any]:
    """The report of a run that is killed whenever so many calls have ended, and resumed each time."""
    run = referee(repo, *command)
    for wanted in at:
        end = time.monotonic() + 240
        while done(repo) < wanted and run.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        assert run.poll() is None, run.communicate()[1].decode()
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        run_id = str(json.loads(referee(repo, "runs").communicate()[0].splitlines()[0])["run_id"])
        run = referee(repo, "resume", run_id)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 4, err.decode()
    report: dict[str, Any] = json.loads(out)
    return report


def test_a_run_that_is_killed_again_and_again_does_each_step_once(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"log.txt": "", "README.md": "x\n"})
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in map(lines, range(STEPS))))
    with script.open("a") as file:
        file.write(json.dumps({"role": "agent", "content": "counted", "cost_usd": 0.001}) + "\n")
    budget = ("--timeout", "3600", "--max-cost", "5")
    every = STEPS * 3 // KILLS
    at = tuple(min(kill * every + 1 + kill % 3, STEPS * 3 - 1) for kill in range(KILLS))
    report = killed(repo, at, "agent", "count", "--model", f"scripted:{script}", *budget)
    patch = (repo / f".harness/reports/{report['run_id']}.patch").read_text()
    assert [int(row[1:]) for row in patch.splitlines() if row[1:].isdigit() and row[0] == "+"].count(7) == 2
    added = [
        row[1:]
        for row in patch.split("diff --git a/log.txt", 1)[1].split("diff --git")[0].splitlines()
        if row[:1] == "+"
    ]
    assert added[1:] == [str(n) for n in range(STEPS)], "each line once, in order"
    ended = [e["key"] for e in journal(repo) if e["action"] == "call_tool" and e["kind"] == "ended"]
    assert len(ended) == len(set(ended)) == STEPS * 3
    assert report["cost_usd"] <= (STEPS + 1 + KILLS) * 0.001, "what was answered is not paid again"
