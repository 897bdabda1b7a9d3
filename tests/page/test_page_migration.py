"""A migration from an agent's wish to the database: read on the page, signed with a person's key, run once, proved."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import small
from page_scene import MAIN, enter, serving
from playwright.sync_api import Browser

UP, DOWN = "create table discount (code text, percent integer);", "drop table discount;"
Cli = Callable[..., tuple[int, str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line of a person with an SSH key that counts, in a repository with a shop."""
    own = tmp_path / "home/.config/referee"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[signing]\nrequire = "ssh"\n')
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "ann")], check=True)
    (own / "allowed_signers").write_text(f"ann@example.invalid {(tmp_path / 'ann.pub').read_text()}")
    (own / "allowed_signers").chmod(0o644)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REFEREE_", "XDG_", "GIT_"))}
    surroundings = {**kept, "HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-c", MAIN, *arguments, "--repo", str(tmp_path / "shop")]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=250, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def script(tmp_path: Path) -> str:
    """A model that wants a table, and then says that it is there."""
    arguments = {"database": f"sqlite:{tmp_path / 'shop.db'}", "up": UP, "down": DOWN, "name": "discounts"}
    wish = {"name": "propose", "arguments": {"kind": "sql", "arguments": arguments, "why": "discounts need a table"}}
    lines = [{"content": "", "tool_calls": [wish]}, {"content": "the table is there"}]
    file = tmp_path / "script.jsonl"
    file.write_text("".join(json.dumps({"role": "agent", **line}) + "\n" for line in lines))
    return f"scripted:{file}"


def tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return [n for (n,) in database.execute("select name from sqlite_master where type = 'table' order by name")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_migration_is_read_on_the_page_signed_by_key_run_once_and_proved(
    tmp_path: Path, cli: Cli, browser: Browser
) -> None:
    small.build(tmp_path / "shop")
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table item (name text)")
    code, said = cli("agent", "add discounts", "--model", script(tmp_path), "--json")
    assert code == 4, said
    run_id = json.loads(said.splitlines()[0])["run_id"]
    with serving(tmp_path / "shop", tmp_path / "home") as server:
        page = enter(browser, server).new_page()
        page.goto(server.base)
        page.get_by_role("link", name="Questions").click()
        page.get_by_role("listitem").filter(has_text="open").get_by_role("link").first.click()
        shown = page.get_by_role("region", name="What the answer is about").inner_text()
        assert UP in shown and DOWN in shown and "no way back" not in shown
        assert page.get_by_role("button", name="Sign").count() == 0, "a click is no signature here"
        command = page.locator(".acts code").first.inner_text()
        assert command.startswith("referee sign q-") and command.endswith("--ssh-key FILE")
        assert cli(*command.split()[1:3])[0] == 2, "the key of this machine is not enough"
        assert cli(*command.split()[1:3], "--ssh-key", str(tmp_path / "ann"))[0] == 0
        page.reload()
        page.get_by_text("answered", exact=True).wait_for()
        assert page.get_by_text("ann@example.invalid").is_visible()
        assert tables(file) == ["item"], "a signature alone does nothing"
        code, said = cli("resume", run_id)
        assert tables(file) == ["discount", "item", "referee_migration"], said
        page.goto(f"{server.base}/runs/{run_id}/journal")
        rows = page.get_by_role("table").get_by_role("row")
        assert rows.filter(has_text="call_outside").filter(has_text="ended").filter(has_text="done").count() == 1
        page.context.close()
    assert cli("resume", run_id)[0] == 2, "it has ended"
    code, said = cli("journal", "verify", run_id, "--json")
    assert (code, json.loads(said)["ok"]) == (0, True)
    assert cli("replay", run_id)[0] == 0
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("select count(*) from referee_migration").fetchone() == (1,)
        database.execute("insert into discount values ('x', 5)")
    database = sqlite3.connect(tmp_path / "shop/.harness/state.db")
    with closing(database):
        database.execute("drop trigger entry_is_append_only")
        database.execute("update entry set payload = replace(payload, 'percent', 'rebate') where action = 'call_tool'")
        database.commit()
    code, said = cli("journal", "verify", run_id, "--json")
    assert (code, json.loads(said)["ok"]) == (1, False), "the proof would show an edit"
