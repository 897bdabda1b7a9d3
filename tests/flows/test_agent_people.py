"""An agent and the person it works for: questions that wait, questions that do not, skills, what is shown, plans."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import small
from test_agent import calls, observations, play, says, script

from referee import api
from referee.adapters.models.scripted import ScriptedModel
from referee.config import load
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.ports import ModelReply, ModelRequest
from referee.render import text

SKILL = "---\nname: naming\ndescription: how things are named\n---\nNames are short.\n"


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))


def waiting(repo: Path) -> Any:
    (found,) = [q for q in api.questions(str(repo)) if q.status == "open"]
    return found


def answered(repo: Path, run_id: str, words: str) -> Outcome:
    api.answer(waiting(repo).id, words, str(repo))
    return api.resume(run_id, str(repo))


def test_a_run_waits_for_words_and_shows_what_came_of_them(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"README.md": "x\n", ".claude/skills/naming/SKILL.md": SKILL})
    ask = ("ask", {"question": "Which name?", "options": ["short", "long"]})
    table = {"head": ["name", "why"], "rows": [["short", "asked"]]}
    show = ("present", {"files": ["README.md"], "component": table, "caption": "Names"})
    outcome = play(repo, calls(("skill", {"name": "naming"}), ask), calls(show), says("short it is"))
    run_id = outcome.report.run_id
    assert outcome.report.exit == 4 and waiting(repo).kind == "question"
    outcome = answered(repo, run_id, "1")
    assert outcome.solved and outcome.report.answer == "short it is"
    told = dict(observations(repo, run_id))
    assert told["ask"] == "short\n[the person's answer]" and "Names are short." in told["skill"]
    shown = text(outcome.report)
    assert "Names\n--- README.md\n  x\nname   why\n-----  -----\nshort  asked" in shown


def test_an_answer_that_comes_while_the_work_goes_on_is_heard_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, answer = small.build(tmp_path / "repo", {"README.md": "x\n"}), ScriptedModel.call
    heard: list[list[str]] = []

    def person(event: str, facts: Mapping[str, Any]) -> None:
        if event == "observed" and facts["tool"] == "read":
            api.answer(waiting(repo).id, "the blue one", str(repo))

    def listening(model: ScriptedModel, request: ModelRequest) -> ModelReply:
        heard.append([m.content for m in request.messages if "The person answers" in m.content])
        return answer(model, request)

    monkeypatch.setattr(ScriptedModel, "call", listening)
    ask, look = ("ask", {"question": "Which?", "blocking": False}), ("read", {"path": "README.md"})
    model = script(tmp_path, [calls(ask), calls(look), calls(("glob", {"pattern": "*"})), says("blue")])
    config = load(str(repo), flags={"models.default": model}, variables={}, user_file="")
    outcome = api.agent(Task(repo=str(repo), text="paint it"), config, person)
    assert outcome.solved and any("asked, and going on" in n for n in outcome.report.notes)
    assert heard == [[], [], *[["# The person answers your question\nthe blue one"]] * 2]
    assert api.replay(outcome.report.run_id, str(repo)).same
    assert [q.status for q in api.questions(str(repo))] == ["answered"]


def test_what_reaches_the_user_s_own_things_is_asked_about_first(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"README.md": "x\n"})
    plan = ("schedule", {"when": "every 6h", "task": "look again"})
    outcome = play(repo, calls(plan), says("planned"))
    assert outcome.report.exit == 4 and waiting(repo).kind == "approval" and api.schedule(str(repo)) == ()
    outcome = answered(repo, outcome.report.run_id, "yes")
    (entry,) = api.schedule(str(repo))
    assert outcome.solved and (entry.task, entry.when, entry.flow) == ("look again", "every 6h", "agent")


def test_an_agent_runs_a_workflow_only_as_a_person_has_read_it(tmp_path: Path) -> None:
    flow = "def main(flow):\n    return flow.bash('echo two >> README.md').text\n"
    repo = small.build(tmp_path / "repo", {"README.md": "x\n", "flow.py": flow})
    outcome = play(repo, calls(("workflow", {"file": "flow.py"})), says("done"))
    assert outcome.report.exit == 4 and flow in api.question(waiting(repo).id, str(repo)).shown
    outcome = answered(repo, outcome.report.run_id, "yes")
    assert "+two" in outcome.diff and outcome.report.exit == 4, "nothing can judge the change, so it is asked about"
    assert "[flow.py: 1 steps; files were changed]" in dict(observations(repo, outcome.report.run_id))["workflow"]
