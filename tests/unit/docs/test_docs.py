"""The documents tell the truth: every key, command and stop reason is there, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.config.keys import KEYS
from referee.domain.reason import StopReason
from referee.domain.report import exit_code

ROOT = Path(__file__).parents[3]


def rows(document: str) -> list[list[str]]:
    lines = (ROOT / "docs" / document).read_text().splitlines()
    return [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_every_setting_is_documented_with_its_variable_and_option() -> None:
    table = {r[0].partition(" ")[0].strip("`"): r for r in rows("configuration.md") if r[0].startswith("`")}
    assert table.keys() == KEYS.keys()
    for name, key in KEYS.items():
        flags = " / ".join(re.findall(r"--[a-z-]+", table[name][3]))
        assert (table[name][2].strip("`"), flags) == (key.env, key.flag), name


def test_every_stop_reason_is_documented_with_its_exit_code() -> None:
    found: dict[str, int] = {}
    for row in rows("concepts.md"):
        if len(row) == 3 and row[2].isdigit():
            found |= {name.strip(): int(row[2]) for name in row[0].split(",")}
    assert found == {reason.value: exit_code(reason) for reason in StopReason}


@pytest.mark.parametrize("document", sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("*.md")))
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert "://" in target or (ROOT / target).exists(), target
