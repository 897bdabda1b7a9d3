"""From proposal to receipt on the command line: nothing before the signature, once after it, unknown after a cut."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from neighbours import Post, Shop

from referee.cli import main

Cli = Callable[..., tuple[int, Any]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run referee in this process in a small repository, with an empty home; exit code, and JSON or words."""
    for name in [n for n in os.environ if n.startswith(("REFEREE_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(repo)], check=True)
    (repo / "a.py").write_text("A = 1\n")
    monkeypatch.chdir(repo)

    def run(*arguments: str) -> tuple[int, Any]:
        code = main([*arguments, "--json"])
        out, err = capfd.readouterr()
        lines = [json.loads(row) for row in out.splitlines()]
        return code, lines if arguments[0] in ("questions", "show", "runs") else lines[0] if lines else err

    return run


def only(cli: Cli) -> dict[str, Any]:
    return next(q for q in cli("questions")[1] if q["status"] == "open")


def test_a_migration_is_signed_runs_once_and_is_undone_as_a_proposal(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table item (name text)")
    up, down = tmp_path / "up.sql", tmp_path / "down.sql"
    up.write_text("create table discount (code text);")
    down.write_text("drop table discount;")

    def tables() -> set[str]:
        with closing(sqlite3.connect(file)) as database:
            return {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}

    code, report = cli("propose", "sql", f"sqlite:{file}", str(up), "--down", str(down))
    run_id = report["run_id"]
    assert (code, report["stop_reason"]) == (4, "needs_signature")
    asked = only(cli)
    assert asked["kind"] == "signature" and "migrate sqlite:" in asked["summary"]
    [full] = cli("questions", asked["id"])[1]
    assert "create table discount" in full["shown"] and "drop table discount" in full["shown"]
    assert cli("resume", run_id)[0] == 4 and tables() == {"item"}
    assert cli("sign", asked["id"])[0] == 0 and tables() == {"item"}
    up.write_text("drop table item;")  # what was signed is what runs
    code, report = cli("resume", run_id)
    assert (code, report["solved"], report["landed"]["how"]) == (0, True, "outside:sql")
    assert tables() == {"item", "discount", "referee_migration"}
    assert cli("resume", run_id)[0] == 2
    assert cli("journal", "verify")[1]["ok"] is True
    code, report = cli("propose", "undo", run_id)
    assert code == 4
    cli("sign", only(cli)["id"])
    assert cli("resume", report["run_id"])[0] == 0
    assert tables() == {"item", "referee_migration"}


def test_a_request_is_sent_once_after_a_signature_and_a_no_sends_nothing(cli: Cli, shop: Shop, post: Post) -> None:
    code, report = cli(
        "propose", "http", "post", f"{shop.url}/orders", "--body", "{}", "--undo", f"DELETE {shop.url}/1"
    )
    assert code == 4 and shop.got == []
    question = only(cli)["id"]
    assert cli("answer", question, "yes")[0] == 2
    cli("sign", question)
    assert cli("resume", report["run_id"])[0] == 0
    assert [(m, p) for m, p, _ in shop.got] == [("POST", "/orders")]
    server = ["propose", "mail", f"127.0.0.1:{post.port}", "--from", "a@example.invalid", "--to", "b@example.invalid"]
    code, report = cli(*server, "--subject", "Hello", "--body", "Text")
    cli("answer", only(cli)["id"], "no")
    code, ended = cli("resume", report["run_id"])
    assert (code, ended["stop_reason"], post.taken) == (130, "human_abort", [])


def test_what_reads_from_a_host_that_is_not_listed_is_signed_too(cli: Cli, shop: Shop) -> None:
    assert cli("propose", "http", "get", f"{shop.url}/orders")[0] == 4
    assert shop.got == []


def test_a_repository_can_take_tools_away_and_never_give_them(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "repo" / "referee.toml").write_text('[outside]\ntools = ["sql"]\n')
    code, words = cli("propose", "http", "post", shop.url)
    assert code == 2 and "there is no outside tool 'http'; registered are: sql" in words
    own = tmp_path / "home" / ".config" / "referee" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[outside]\ntools = ["http"]\n')
    assert cli("propose", "http", "post", shop.url)[0] == 2
    assert cli("runs", "--all")[1] == []


def test_a_run_that_is_killed_while_sending_is_unknown_and_never_sends_again(
    cli: Cli, shop: Shop, tmp_path: Path
) -> None:
    code, report = cli("propose", "http", "post", f"{shop.url}/orders")
    cli("sign", only(cli)["id"])
    shop.hang_up = False
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    command = [sys.executable, "-c", KILLED, report["run_id"]]
    done = subprocess.run(command, cwd=tmp_path / "repo", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(shop.got) == 1
    code, ended = cli("resume", report["run_id"])
    assert (code, ended["stop_reason"]) == (4, "needs_signature")
    assert "unknown whether it took effect" in ended["explanation"] and "Idempotency-Key" in ended["explanation"]
    assert cli("resume", report["run_id"])[0] == 2
    assert len(shop.got) == 1


KILLED = """
import http.client, os, signal, sys
from referee.cli import main
class Dying(http.client.HTTPConnection):
    def getresponse(self):
        super().getresponse()
        os.kill(os.getpid(), signal.SIGKILL)
http.client.HTTPConnection = Dying
main(["resume", sys.argv[1]])
"""
