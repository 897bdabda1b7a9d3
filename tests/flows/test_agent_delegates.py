"""An agent hands parts of its work to others: own copies, conclusions, a conflict that is shown, a resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import small
from test_agent import calls, observations, says

from referee import api
from referee.authors.tools.delegation import share
from referee.config import load
from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.report import Outcome
from referee.domain.task import Task


def write(path: str, text: str) -> tuple[str, dict[str, Any]]:
    return "write", {"path": path, "content": text}


def play(repo: Path, agent: list[dict[str, Any]], others: list[dict[str, Any]]) -> Outcome:
    lines = [{"role": "agent", **line} for line in agent] + [{"role": "subagent", **line} for line in others]
    script = repo.parent / "script.jsonl"
    script.write_text("".join(json.dumps({"input_tokens": 100, **line}) + "\n" for line in lines))
    config = load(str(repo), flags={"models.default": f"scripted:{script}"}, variables={}, user_file="")
    return api.agent(Task(repo=str(repo), text="mend add"), config)


def test_changes_are_merged_in_order_and_a_conflict_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    repo = small.build(tmp_path / "repo")
    tasks = [{"task": f"part {n}", "write": n != 4} for n in range(1, 5)]
    outcome = play(
        repo,
        [calls(("agent", {"tasks": tasks})), says("done")],
        # The lines of four who speak at the same time, by turns.
        [
            calls(write("one.py", "ONE = 1\n")), calls(write("two.py", "TWO = 2\n")),
            calls(write("one.py", "ONE = 3\n")), calls(write("four.py", "FOUR = 4\n")),
            says("one is there"), says("two is there"), says("one is mine"), says("four is seen"),
        ],
    )  # fmt: skip
    ((_, told),) = observations(repo, outcome.report.run_id)[-1:]
    assert "Agent 1: one is there\n[taken over: one.py]" in told
    assert "Agent 2: two is there\n[taken over: two.py]" in told
    assert "Agent 3: one is mine\n[conflict: nothing of it was taken, for others changed one.py (agent 1)" in told
    assert "Agent 4: four is seen\n[its changes of four.py were dropped" in told
    assert "ONE = 1" in outcome.diff and "TWO = 2" in outcome.diff and "ONE = 3" not in outcome.diff
    assert "four.py" not in outcome.diff and outcome.report.tokens == 1_000


def test_a_later_delegation_goes_on_in_the_script_and_jobs_of_the_same_name_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    repo = small.build(tmp_path / "repo")

    def started(word: str) -> dict[str, Any]:
        return calls(("bash", {"command": f"echo {word}", "why": "to tell", "background": True, "timeout": 30}))

    one = calls(("agent", {"tasks": [{"task": "one"}]}))
    outcome = play(
        repo,
        [started("mine"), one, one, calls(("job_wait", {"job": "job1"}), ("job_list", {})), says("done")],
        [started("other"), says("first"), says("second")],
    )
    told = [text for _, text in observations(repo, outcome.report.run_id)]
    assert [text.split("\n")[0] for text in told if text.startswith("Agent 1")] == ["Agent 1: first", "Agent 1: second"]
    assert told[-2].startswith("mine\n[job1: ended with exit code 0"), told
    assert told[-1].startswith("job1: ended") and told[-1].endswith("[1 jobs]")


def test_a_share_is_of_what_is_left_and_never_more() -> None:
    view = BudgetView(budget=Budget(timeout=100.0, max_tokens=1_000), spent=Cost(seconds=50.0, tokens=500))
    given = share(view, 2)
    assert given.timeout == 80.0 and given.max_tokens == 150 and 2 * given.max_cost_usd < view.budget.max_cost_usd
    assert share(view.model_copy(update={"spent": Cost(seconds=99.9, tokens=1_000)}), 1).max_tokens == 0
