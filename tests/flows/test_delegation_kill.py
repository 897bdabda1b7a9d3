"""SIGKILL while sub-agents or a workflow are at work: what was done is recalled, the rest is done once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import small
from test_agent_kill import journal, killed

STEPS, PRICE = 4, 0.001
FLOW = """
def main(flow):
    for n in range(4):
        assert flow.bash(f"echo {n} >> log.txt").ok
    seen = flow.parallel(["one", "two"], write=True)
    assert flow.bash("echo 4 >> log.txt").ok
    return seen[0].text
"""


def line(role: str, *calls: tuple[str, dict[str, Any]], text: str = "") -> str:
    wanted = [{"name": name, "arguments": given} for name, given in calls]
    return json.dumps({"role": role, "content": text, "tool_calls": wanted, "cost_usd": PRICE, "output_tokens": 10})


def parts() -> list[str]:
    """Two sub-agents by turns: each writes its own files, then says so."""
    writes = [
        ("write", {"path": f"made/{n}-{step}.txt", "content": f"{step}\n"}) for step in range(STEPS) for n in (1, 2)
    ]
    return [*(line("subagent", w) for w in writes), *(line("subagent", text=f"part {n} is done") for n in (1, 2))]


def once(repo: Path) -> int:
    """How many calls ended, each once."""
    ended = [e["key"] for e in journal(repo) if e["action"] == "call_tool" and e["kind"] == "ended"]
    assert len(ended) == len(set(ended))
    return len(ended)


def paid(report: dict[str, Any], asked: int, lost: int) -> bool:
    """Whether each answer was paid for once, and besides at most those that a kill cut off."""
    return bool(asked * PRICE - 1e-9 <= report["cost_usd"] <= (asked + lost) * PRICE + 1e-9)


def test_sub_agents_go_on_where_they_were(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"README.md": "x\n"})
    tasks = [{"task": f"part {n}", "write": True} for n in (1, 2)]
    script = tmp_path / "script.jsonl"
    lines = [line("agent", ("agent", {"tasks": tasks})), line("agent", text="both are done"), *parts()]
    script.write_text("\n".join(lines) + "\n")
    report = killed(repo, (4,), "agent", "divide", "--model", f"scripted:{script}", "--timeout", "3600")
    assert report["answer"] == "both are done" and once(repo) == 2 * STEPS + 1
    patch = (repo / f".harness/reports/{report['run_id']}.patch").read_text()
    assert all(f"b/made/{n}-{step}.txt" in patch for n in (1, 2) for step in range(STEPS))
    assert paid(report, len(lines), lost=2), "what was answered is not paid again"


def test_a_workflow_goes_on_where_it_was(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"log.txt": ""})
    script, flow = tmp_path / "script.jsonl", tmp_path / "flow.py"
    script.write_text("\n".join(parts()) + "\n")
    flow.write_text(FLOW)
    model = ("--model", f"scripted:{script}")
    report = killed(repo, (5,), "workflow", str(flow), *model, "--timeout", "3600")
    assert "part 1 is done" in report["answer"] and once(repo) == 5 + 1 + 2 * STEPS
    patch = (repo / f".harness/reports/{report['run_id']}.patch").read_text()
    log = patch.split("diff --git a/log.txt", 1)[1].split("diff --git")[0].splitlines()
    assert [row[1:] for row in log if row[:1] == "+"][1:] == [str(n) for n in range(5)], "each line once, in order"
    assert paid(report, 2 * STEPS + 2, lost=2)
