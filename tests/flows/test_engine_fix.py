"""A real repair from the queue: it waits for a person without a slot, and goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import small

from referee import api
from referee.cli import main

MAIN = "import sys; from referee.cli import main; sys.exit(main())"


@pytest.mark.slow
def test_a_queued_fix_waits_for_a_yes_and_lands(
    queue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REFEREE_DATABASE", queue)
    repo = small.build(tmp_path / "repo")
    env = {**os.environ, "HOME": str(tmp_path)}

    def worked() -> str:
        command = [sys.executable, "-c", MAIN, "worker", "--slots", "1", "--id", "w", "--once"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    model = small.script(tmp_path / "model.jsonl", small.proposal())
    asked = ("--target", small.TARGET, "--generator", "model", "--model", model, "--ask-before-landing")
    assert main(["fix", "--engine", "dbos", "--repo", str(repo), *asked, "--json"]) == 0
    run_id = json.loads(capsys.readouterr().out)["run_id"]
    assert [r.status for r in api.runs(str(repo))] == ["stopped"], "nobody works on it"
    assert f"{run_id}: waiting" in worked()
    assert (repo / "calc.py").read_text() == small.BUGGY
    question = api.questions(str(repo))[0]
    assert api.answer(question.id, "yes", str(repo)).queued
    assert f"{run_id}: done: solved" in worked()
    assert (repo / "calc.py").read_text() == small.FIXED
    assert api.replay(run_id, str(repo)).same
    assert not (repo / ".harness/state.db").exists()
    api.rollback(run_id, str(repo))
    assert (repo / "calc.py").read_text() == small.BUGGY
