"""An agent proposes a migration, a person signs it with an SSH key, it runs once, and the journal proves it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main

UP, DOWN = "create table discount (code text);", "drop table discount;"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_migration_from_an_agent_to_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [n for n in os.environ if n.startswith(("REFEREE_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    own, repo, file = tmp_path / "home/.config/referee", tmp_path / "repo", tmp_path / "shop.db"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[signing]\nrequire = "ssh"\n')
    for name in ("ann", "eve"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (own / "allowed_signers").write_text(f"ann@example.invalid {(tmp_path / 'ann.pub').read_text()}")
    (own / "allowed_signers").chmod(0o644)
    subprocess.run(["git", "init", "--quiet", str(repo)], check=True)
    (repo / "notes.txt").write_text("a shop\n")
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table item (name text)")
    asked = {"kind": "sql", "arguments": {"database": f"sqlite:{file}", "up": UP, "down": DOWN, "name": "discounts"}}
    wrong = {**asked, "arguments": {"database": "shop", "up": UP, "down": DOWN}, "why": "the shop needs discounts"}
    lines: list[dict[str, Any]] = [
        {"tool_calls": [{"name": "propose", "arguments": wrong}]},
        {"tool_calls": [{"name": "propose", "arguments": {**asked, "why": "the shop needs discounts"}}]},
        {"content": "the table is there"},
    ]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps({"role": "agent", "content": "", **line}) + "\n" for line in lines))
    monkeypatch.chdir(repo)

    def cli(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--json"])
        out, err = capfd.readouterr()
        return code, json.loads(out.splitlines()[0]) if out else err

    def tables() -> list[str]:
        with closing(sqlite3.connect(file)) as database:
            return [n for (n,) in database.execute("select name from sqlite_master where type = 'table' order by name")]

    code, report = cli("agent", "add discounts", "--model", f"scripted:{script}")
    assert (code, report["stop_reason"]) == (4, "needs_signature"), report
    question = cli("questions")[1]
    full = cli("questions", question["id"])[1]
    assert UP in full["shown"] and DOWN in full["shown"] and full["demand"]["ssh"]
    assert cli("sign", question["id"])[0] == 2
    assert cli("sign", question["id"], "--ssh-key", str(tmp_path / "eve"))[0] == 2
    assert cli("sign", question["id"], "--ssh-key", str(tmp_path / "ann"))[0] == 0
    assert tables() == ["item"]
    code, ended = cli("resume", report["run_id"])
    assert ended["answer"] == "the table is there", ended
    assert tables() == ["discount", "item", "referee_migration"]
    main(["show", report["run_id"], "--journal"])
    entries = [json.loads(row) for row in capfd.readouterr().out.splitlines()]
    done = [e for e in entries if e["action"] == "call_outside" and e["kind"] == "ended" and e["outcome"] == "done"]
    [answered] = [e for e in entries if e["kind"] == "answered"]
    assert len(done) == 1 and answered["n"] < done[0]["n"]
    assert answered["answers"][0]["by"] == "ann@example.invalid"
    assert cli("journal", "verify")[1]["ok"] and cli("replay", report["run_id"])[1]["same"]
    assert cli("resume", report["run_id"])[0] == 2 and len(tables()) == 3
