"""`referee memory` from outside."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from referee.cli import main


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / "Makefile").write_text("test:\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    return root


def states(capfd: pytest.CaptureFixture[str]) -> dict[str, str]:
    capfd.readouterr()
    assert main(("memory", "list", "--json")) == 0
    lines = map(json.loads, capfd.readouterr().out.splitlines())
    return {one["kept"]["memory"]["id"]: one["state"] for one in lines}


def test_what_a_person_says_counts_until_its_file_changes(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(("memory", "add", "run the tests with make test", "--file", "Makefile")) == 0
    name = capfd.readouterr().out.strip()
    assert states(capfd) == {name: "active"}
    (repo / "Makefile").write_text("check:\n")
    assert states(capfd) == {name: "stale"}
    assert main(("memory", "confirm", name)) == 0
    assert states(capfd) == {name: "active"}
    assert main(("memory", "forget", name)) == 0 and states(capfd) == {}


def test_what_somebody_wrote_waits_until_a_check_confirms_it(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = repo / ".harness" / "memory"
    folder.mkdir(parents=True)
    (folder / "there.md").write_text("There is a Makefile.\n")
    assert states(capfd) == {"there": "quarantined"}
    assert main(("memory", "confirm", "there", "--check", "test -f missing")) == 2
    assert states(capfd) == {"there": "quarantined"}
    assert main(("memory", "confirm", "there", "--check", "test -f Makefile")) == 0
    assert states(capfd) == {"there": "active"}


def test_the_same_twice_and_a_contradiction_are_said(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(("memory", "add", "run the tests with make test"))
    first = capfd.readouterr().out
    assert main(("memory", "add", "Run the tests with make test!")) == 0
    again = capfd.readouterr()
    assert again.out == first and "says that already" in again.err
    assert main(("memory", "add", "never run the tests with make test")) == 0
    assert "may say otherwise" in capfd.readouterr().err


def test_an_unknown_memory_names_the_nearest(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(("memory", "add", "answer briefly", "--me"))
    name = capfd.readouterr().out.strip()
    assert main(("memory", "show", name[:-1])) == 2 and name in capfd.readouterr().err
    assert main(("memory", "export")) == 0
    assert json.loads(capfd.readouterr().out)["memories"][0]["kept"]["memory"]["layer"] == "person"
