"""`referee docs` from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.cli import main

SOURCE = '''"""A shop."""

def total(basket: list[int], rate: float = 0.190) -> float:
    """Add up.

    Args:
        basket: what to add
        tax: not there

    Returns:
        the sum
    """
'''


Referee = Callable[..., SimpleNamespace]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def referee(shop: Path, capfd: pytest.CaptureFixture[str]) -> Referee:
    def run(*arguments: str) -> SimpleNamespace:
        code = main(["docs", *arguments])
        said = capfd.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def test_json_is_the_contract_s_list(shop: Path, referee: Referee) -> None:
    done = referee("shop.py", "--json")
    module, total = json.loads(done.stdout)
    assert done.returncode == 0 and module["kind"] == "module"
    assert total == {
        "path": "shop.py", "line": 3, "name": "shop.total", "kind": "function",
        "parameters": [
            {"name": "basket", "kind": "positional or keyword", "annotation": "list[int]", "default": None},
            {"name": "rate", "kind": "positional or keyword", "annotation": "float", "default": "0.190"},
        ],
        "returns": "float", "docstring": total["docstring"],
    }  # fmt: skip
    assert "names the parameter tax, which does not exist" in done.stderr


@pytest.mark.parametrize("place", ["reference", "reference.md", "reference.json"])
def test_committed_docs_go_stale(shop: Path, referee: Referee, place: str) -> None:
    assert referee(".", "--check", place).returncode == 2
    assert referee(".", "--out", place).stdout.startswith("wrote reference")
    assert referee(".", "--out", place).stdout == "nothing changed\n"
    assert referee(".", "--check", place).returncode == 0
    (shop / "shop.py").write_text(SOURCE.replace("0.190", "0.21"))
    done = referee(".", "--check", place, "-q")
    assert done.returncode == 1 and "0.21" in done.stdout and "stale" in done.stdout and not done.stderr


def test_pages_of_modules_that_are_gone_are_stale(shop: Path, referee: Referee) -> None:
    (shop / "other.py").write_text("")
    referee(".", "--out", "reference")
    (shop / "other.py").unlink()
    assert "reference/other.md" in referee(".", "--check", "reference").stdout


def test_a_page_by_hand_is_not_overwritten(shop: Path, referee: Referee) -> None:
    (shop / "own.md").write_text("mine\n")
    done = referee(".", "--out", "own.md")
    assert done.returncode == 2 and "not overwritten" in done.stderr
    assert (shop / "own.md").read_text() == "mine\n"


def test_an_audit_fails_where_something_is_wrong(shop: Path, referee: Referee) -> None:
    done = referee("--audit", "--json")
    assert done.returncode == 1 and [o["rule"] for o in json.loads(done.stdout)] == ["no-such-parameter"]
    (shop / "shop.py").write_text(SOURCE.replace("        tax: not there\n", ""))
    assert referee("--audit").returncode == 0


def test_markdown_shows_the_signature_and_the_sections(shop: Path, referee: Referee) -> None:
    page = referee(".").stdout
    assert "def total(basket: list[int], rate: float = 0.190) -> float" in page
    assert "* `basket` (`list[int]`): what to add" in page and "**Returns**" in page
