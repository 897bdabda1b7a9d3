"""An agent with what surrounds it, end to end: a real server in the sandbox, a trusted hook, a memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small
from test_agent import MEND, calls, observations, play, says

from referee.cli import main

SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
made = MCPServer("t")
@made.tool()
def where() -> str:
    "Says which file is wrong."
    return open("calc.py").read().splitlines()[1]
made.run("stdio")
"""
HOOK = 'read event; case "$event" in *Bash*) echo "no shell here" >&2; exit 2;; esac\n'


def test_a_server_a_hook_and_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    repo = small.build(tmp_path / "repo")
    (repo / "server.py").write_text(SERVER)
    (repo / ".mcp.json").write_text(json.dumps({"mcpServers": {"t": {"command": "python", "args": ["server.py"]}}}))
    (repo / "guard.sh").write_text(HOOK)
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh guard.sh"}]}
    (repo / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    at = ("--repo", str(repo))
    assert main(("servers", "approve", "t", *at)) == main(("hooks", "trust", *at)) == 0
    assert main(("memory", "add", "add is wrong more often than not", *at)) == 0
    outcome = play(
        repo,
        calls(("mcp__t__where", {}), ("recall", {"query": "add"})),
        calls(("bash", {"command": "echo hi", "why": "to see"}), ("read", {"path": "calc.py"})),
        calls(("edit", MEND)),
        says("done"),
    )
    told = observations(repo, outcome.report.run_id)
    texts = dict(told)
    assert texts["mcp__t__where"].startswith("    return a - b\n[from t]"), told
    assert "more often than not" in texts["recall"]
    assert texts["bash"].startswith("denied by the rule hook: no shell here")
    assert outcome.solved and (repo / "calc.py").read_text() == small.FIXED
