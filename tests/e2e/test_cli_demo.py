"""`referee demo` from outside, and what the record says about it afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "import sys; from referee.cli import main; sys.exit(main())"
REFEREE = [sys.executable, "-c", MAIN]
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment without settings of this machine's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REFEREE_", "XDG_", "GIT_"))}
    return {**kept, "HOME": str(tmp_path_factory.mktemp("home"))}


def run(cwd: Path, home: dict[str, str], *command: str) -> Done:
    return subprocess.run(command, cwd=cwd, env=home, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, home: dict[str, str]) -> tuple[Path, Done]:
    """One demo run, kept."""
    folder = tmp_path_factory.mktemp("demo")
    return folder / "shop", run(folder, home, *REFEREE, "demo", "--json", "--keep", "shop")


@pytest.mark.slow
def test_the_demo_repairs_a_real_bug(kept: tuple[Path, Done], home: dict[str, str]) -> None:
    shop, done = kept
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["solved"] and report["stop_reason"] == "solved"
    assert report["touched_files"] == ["src/cornershop/checkout.py"]
    assert report["candidates_judged"] >= 1 and report["cost_usd"] == 0 and report["isolation"]["level"] == "full"
    assert run(shop, home, *PYTEST).returncode == 0


@pytest.mark.slow
def test_a_pipe_gets_one_final_line_and_no_escapes(kept: tuple[Path, Done]) -> None:
    _, done = kept
    rows = [r for r in done.stderr.splitlines() if not r.startswith("note: ")]
    assert len(rows) == 1 and rows[0].startswith("Solved in ")
    assert "\x1b" not in done.stderr


@pytest.mark.slow
def test_the_record_shows_it_in_every_form(kept: tuple[Path, Done], home: dict[str, str]) -> None:
    shop, done = kept
    run_id = json.loads(done.stdout)["run_id"]
    listed = [json.loads(row) for row in run(shop, home, *REFEREE, "runs", "--json").stdout.splitlines()]
    assert [(r["run_id"], r["solved"]) for r in listed] == [(run_id, True)]
    assert json.loads(run(shop, home, *REFEREE, "show", run_id, "--json").stdout) == json.loads(done.stdout)
    assert run(shop, home, *REFEREE, "show", run_id, "--format", "html").stdout.startswith("<!doctype html>")
    assert run(shop, home, *REFEREE, "show", run_id, "--format", "markdown").stdout.startswith("# Solved")
    diff = run(shop, home, *REFEREE, "show", run_id, "--format", "diff").stdout
    assert "-    return Quote(goods, taken_off, delivery.charge(basket.weight, goods))" in diff.splitlines()
    entries = [json.loads(row) for row in run(shop, home, *REFEREE, "show", run_id, "--journal").stdout.splitlines()]
    assert [e["n"] for e in entries] == list(range(1, len(entries) + 1)) and entries[0]["kind"] == "opened"
    assert run(shop, home, *REFEREE, "resume", run_id).returncode == 2


@pytest.mark.slow
def test_roll_back_undoes_it(kept: tuple[Path, Done], home: dict[str, str]) -> None:
    shop, done = kept
    undone = run(shop, home, *REFEREE, "rollback", json.loads(done.stdout)["run_id"], "--json")
    assert json.loads(undone.stdout)["restored"] == ["src/cornershop/checkout.py"]
    status = run(shop, home, "git", "status", "--porcelain")
    assert status.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_tree_and_exits_130(tmp_path: Path, home: dict[str, str], number: signal.Signals) -> None:
    """A7: the first note says that the repository is ready; the signal comes right after it."""
    shop = tmp_path / "shop"
    process = subprocess.Popen(
        [*REFEREE, "demo", "--keep", str(shop)], env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None and process.stderr.readline().startswith("note: the sample project is in")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    status = run(shop, home, "git", "status", "--porcelain")
    assert status.stdout == ""
