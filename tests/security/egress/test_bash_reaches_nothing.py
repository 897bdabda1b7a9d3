"""What an agent's bash can reach of the network: nothing, not even this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from referee import api
from referee.config import load
from referee.domain.task import Task

CONNECT = (
    "import socket\n"
    "try:\n    socket.create_connection(('127.0.0.1', {port}), 5).close()\n    print('reached')\n"
    "except OSError as error:\n    print('refused', type(error).__name__)\n"
)


def test_bash_does_not_reach_a_server_that_this_machine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = CONNECT.format(port=server.getsockname()[1])
        bare = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert bare.stdout.strip() == "reached", "unprotected, the attack works"
        repo = tmp_path / "repo"
        repo.mkdir()
        (repo / "connect.py").write_text(code)
        git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            subprocess.run([*git, *words], check=True)
        command = {"command": "python connect.py; getent hosts example.org || echo no name", "why": "to reach it"}
        lines = [{"tool_calls": [{"name": "bash", "arguments": command}]}, {"content": "done"}]
        script = tmp_path / "script.jsonl"
        script.write_text("".join(json.dumps({"role": "agent", **line}) + "\n" for line in lines))
        flags = {"models.default": f"scripted:{script}", "policy": "trusted"}
        config = load(str(repo), flags=flags, variables={}, user_file="")
        outcome = api.agent(Task(repo=str(repo), text="reach it"), config)
        (said,) = [e["observation"] for e in api.journal_lines(outcome.report.run_id, str(repo)) if "observation" in e]
    assert "refused" in said and "reached" not in said and "no name" in said
