"""The documents tell the truth: every key, command and stop reason is there, and nothing else."""

from __future__ import annotations

import re

import pytest
import yaml
from pages import DOCUMENTS, ROOT, without_blocks

from referee.config.keys import KEYS
from referee.domain.reason import StopReason
from referee.domain.report import exit_code


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


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    here = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(document)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = here / path if path else ROOT / document
        assert file.exists(), target
        if anchor:
            assert anchor in headings(file.read_text()), target


def headings(text: str) -> set[str]:
    """The anchors that a page of Markdown offers."""
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in found}


def test_every_page_is_in_the_navigation_or_sorted_in_by_itself() -> None:
    """What the navigation names is there; the reference is made when the site is built."""
    navigation = yaml.safe_load((ROOT / "site" / "mkdocs.yml").read_text())["nav"]
    named = {name for part in navigation for name in leaves(part)}
    pages = {p.relative_to(ROOT / "docs").as_posix() for p in ROOT.glob("docs/**/*.md")}
    assert {n for n in named if not n.startswith("reference/")} <= pages
    assert "index.md" in named and "troubleshooting.md" in named


def leaves(part: object) -> list[str]:
    """The pages below a part of the navigation."""
    if isinstance(part, str):
        return [part]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [name for each in inner for name in leaves(each)]
