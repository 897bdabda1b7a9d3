"""Skills: the index is always told, at most three are loaded, by rule, and as data."""

from __future__ import annotations

from referee.context.prompt import render, system
from referee.context.skills import MOST_LOADED, chosen, found, parsed, section
from referee.domain.brief import Brief
from referee.domain.task import Task

MONEY = b"---\nname: money\ndescription: How prices and discounts round\n---\nUse Decimal.\n"
DATES = b"---\nname: dates\ndescription: >\n  Time zones\n  and calendars\n---\nUse UTC.\n"
TREE = {
    ".agents/skills/money/SKILL.md": MONEY,
    ".claude/skills/dates/SKILL.md": DATES,
    "docs/.agents/skills/plain/SKILL.md": b"# How to write docs\n\nShort.\n",
    "docs/skills/no/SKILL.md": b"not a place for skills",
    "src/a.py": b"x = 1\n",
}


def brief(text: str) -> Brief:
    return Brief(task=Task(text=text), base="t", targets=("tests/test_a.py::test_x",), feedback="")


def test_they_are_found_in_their_places_and_read_leniently() -> None:
    skills = found(TREE.get, TREE)
    assert [(s.name, s.description) for s in skills] == [
        ("dates", "Time zones and calendars"),
        ("money", "How prices and discounts round"),
        ("plain", "How to write docs"),
    ]
    assert skills[1].body == "Use Decimal."
    assert parsed("---\nbroken", "folder").name == "folder"
    assert parsed("", "folder").body == ""


def test_the_index_is_told_and_what_matches_is_loaded() -> None:
    (text,) = section(found(TREE.get, TREE), brief("the discounts are wrong"))
    assert "- dates: Time zones" in text
    assert "Use Decimal." in text
    assert "Use UTC." not in text
    assert "Use UTC." in section(found(TREE.get, TREE), brief("as the skill dates has it"))[0]
    assert section((), brief("x")) == []


def test_at_most_three_are_loaded() -> None:
    tree = {f".agents/skills/s{n}/SKILL.md": f"---\ndescription: prices {n}\n---\nbody".encode() for n in range(9)}
    assert len(chosen(found(tree.get, tree), brief("prices"))) == MOST_LOADED


def test_they_are_part_of_the_brief_and_not_of_the_prefix() -> None:
    before = system("generator")
    text = render(brief("discounts"), TREE.get, sorted(TREE)).text
    assert text.index("Use Decimal.") < text.index("# What the checks say")
    assert system("generator") == before
