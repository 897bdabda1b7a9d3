"""A workflow: a person's file whose steps are calls under the same gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small
from test_agent import calls, observations, says

from referee import api
from referee.cli import main
from referee.config import load
from referee.domain.errors import UsageError
from referee.domain.report import Outcome

FLOW = """
def main(flow):
    seen = flow.parallel(["look at a", "look at b"])
    assert "a is fine" in seen[0].text and "b is fine" in seen[0].text
    assert not flow.check("tests/test_calc.py").ok
    for step in flow.pipeline(["calc.py"], lambda f: flow.bash(f"sed -i 's/a - b/a + b/' {f}")):
        assert step.ok, step.text
    assert flow.check("tests/test_calc.py").ok
    return f"mended {flow.arguments['what']}"
"""


def play(tmp_path: Path, text: str, **flags: object) -> tuple[Path, Outcome]:
    repo = small.build(tmp_path / "repo")
    lines = [
        {"role": "subagent", **line}
        for line in (calls(("glob", {"pattern": "*"})), says("b is fine"), says("a is fine"))
    ]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps({"input_tokens": 100, **line}) + "\n" for line in lines))
    (tmp_path / "flow.py").write_text(text)
    config = load(str(repo), flags={"models.default": f"scripted:{script}", **flags}, variables={}, user_file="")
    return repo, api.workflow(str(tmp_path / "flow.py"), str(repo), config, arguments='{"what": "add"}')


def test_its_steps_are_recorded_and_its_difference_lands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    repo, outcome = play(tmp_path, FLOW)
    assert outcome.solved and outcome.report.answer == "mended add"
    assert (repo / "calc.py").read_text() == small.FIXED
    steps = [tool for tool, _ in observations(repo, outcome.report.run_id) if tool in ("agent", "check", "bash")]
    assert steps == ["agent", "check", "bash", "check"]


def test_what_is_wrong_in_the_file_is_said_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    with pytest.raises(UsageError, match=r"flow\.py, line 3: ZeroDivisionError"):
        play(tmp_path, "\ndef main(flow):\n    return 1 / 0\n")


def test_a_file_that_breaks_after_a_step_leaves_a_report_with_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    text = "\ndef main(flow):\n    flow.bash('echo two > notes.txt')\n    return 1 / 0\n"
    repo, outcome = play(tmp_path, text)
    assert outcome.stop_reason.value == "non_progress" and "+two" in outcome.diff
    assert "flow.py, line 4: ZeroDivisionError" in outcome.report.explanation
    assert [run.stop_reason for run in api.runs(str(repo))] == [outcome.stop_reason]


@pytest.mark.parametrize("arguments", [("nothing.py",), ("flow.py", "--args", "[]"), ("flow.py", "--args", "{")])
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(small.build(tmp_path / "repo"))
    Path("flow.py").write_text("def main(flow): pass\n")
    assert main(("workflow", *arguments)) == 2
