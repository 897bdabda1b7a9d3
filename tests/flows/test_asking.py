"""A repair that waits for a person: nothing is written before the yes, and exactly what was shown after it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small

from referee.cli import main

Cli = Callable[..., tuple[int, Any]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run referee in this process, in the repository, with an empty home; exit code and JSON, one or many lines."""
    for name in [n for n in os.environ if n.startswith(("REFEREE_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(small.build(tmp_path / "repo"))

    def run(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--json"])
        out, err = capfd.readouterr()
        lines = [json.loads(row) for row in out.splitlines()]
        return code, lines if arguments[0] in ("questions", "show", "runs") else lines[0] if lines else err

    return run


def fix(cli: Cli, tmp_path: Path, *more: str) -> tuple[int, Any]:
    model = small.script(tmp_path / "m.jsonl", small.proposal())
    return cli("fix", "--target", small.TARGET, "--generator", "model", "--model", model, *more)


def test_a_signed_yes_lands_what_was_shown_and_a_no_lands_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "repo" / "referee.toml").write_text('ask_before_landing = "signature"\n')
    code, report = fix(cli, tmp_path, "--yes", "--ask-before-landing")
    run_id, file = report["run_id"], tmp_path / "repo" / "calc.py"
    assert (code, report["stop_reason"], report["exit"]) == (4, "needs_signature", 4)
    code, [waiting] = cli("questions")
    assert (code, waiting["kind"], waiting["status"], waiting["run_id"]) == (0, "signature", "open", run_id)
    assert waiting.keys() == {"id", "run_id", "kind", "summary", "digest", "expires_at", "status"}
    [asked] = cli("questions", waiting["id"])[1]
    assert "+    return a + b" in asked["shown"] and asked["digest"] == waiting["digest"]
    assert cli("runs")[1][0]["status"] == "waiting"
    assert cli("resume", run_id)[0] == 4
    assert cli("answer", waiting["id"], "yes")[0] == 2, "a signature is not answered"
    assert cli("sign", waiting["id"], "--digest", "0" * 64)[0] == 2
    assert file.read_text() == small.BUGGY
    assert cli("sign", waiting["id"]) == (0, {"id": waiting["id"], "status": "answered"})
    code, words = cli("sign", waiting["id"])
    assert code == 2 and "answered already" in words
    code, report = cli("resume", run_id)
    assert (code, report["stop_reason"]) == (0, "solved")
    assert file.read_text() == small.FIXED
    assert [q["status"] for q in cli("questions")[1]] == ["answered"]
    [answered] = [e for e in cli("show", run_id, "--journal")[1] if e["kind"] == "answered"]
    assert answered["answers"][0]["digest"] == waiting["digest"]


def test_a_no_ends_the_run_and_keeps_the_proposal(cli: Cli, tmp_path: Path) -> None:
    code, report = fix(cli, tmp_path, "--ask-before-landing")
    assert code == 4
    [waiting] = cli("questions")[1]
    assert waiting["kind"] == "approval"
    assert cli("answer", waiting["id"], "perhaps")[0] == 2
    assert cli("answer", waiting["id"], "no")[0] == 0
    code, ended = cli("resume", report["run_id"])
    assert (code, ended["stop_reason"], ended["landed"]) == (130, "human_abort", None)
    assert (tmp_path / "repo" / "calc.py").read_text() == small.BUGGY
    assert "+    return a + b" in (tmp_path / "repo/.harness/reports" / f"{report['run_id']}.patch").read_text()
    code, words = cli("resume", report["run_id"])
    assert code == 2 and "nothing to resume" in words
