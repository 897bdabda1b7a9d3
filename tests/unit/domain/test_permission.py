"""Which rule decides about a call."""

from __future__ import annotations

import itertools

import pytest
from pydantic import ValidationError

from referee.domain.permission import PRESETS, Rule, ruled
from referee.domain.risk import Risk

SPECIFIC = [Rule(then=then, tool="bash", match="*rm *", argument="command") for then in ("deny", "ask", "allow")]
GENERAL = [Rule(then=then, risk=Risk.SCRATCH) for then in ("deny", "ask", "allow")]


def test_specific_before_general_and_deny_before_ask_before_allow() -> None:
    ladder = [*SPECIFIC, *GENERAL]
    for first, second in itertools.combinations(ladder, 2):
        for rules in ([first, second], [second, first]):
            assert ruled(rules, "bash", '{"command": "rm x"}', Risk.SCRATCH) is first


def test_a_repository_s_rule_never_makes_way_for_what_the_user_forbids() -> None:
    user = [Rule(then="deny"), Rule(then="ask", tool="write"), Rule(then="allow", tool="read")]
    mine = [Rule(then="ask", tool=tool, only_tightens=True) for tool in ("bash", "write", "read")]
    mine += [Rule(then="allow", tool="edit", only_tightens=True), Rule(then="deny", tool="write", only_tightens=True)]
    found = {tool: ruled([*mine, *user], tool, "{}", Risk.READ).then for tool in ("bash", "write", "read", "edit")}
    assert found == {"bash": "deny", "write": "deny", "read": "ask", "edit": "deny"}


@pytest.mark.parametrize(
    "arguments",
    [
        '{"command": "git push", "why": "x"}',
        '{"command": "git\\u0020p\\u0075sh", "why": "x"}',
        '{"parts": [{"command": "git push"}]}',
        "git push, and no JSON at all",
    ],
)
def test_a_text_is_found_however_it_is_written(arguments: str) -> None:
    rules = [Rule(then="allow"), Rule(then="deny", tool="Bash", match="*git push*")]
    assert ruled(rules, "bash", arguments, Risk.SCRATCH).then == "deny"
    assert ruled(rules, "bash", '{"command": "git pull"}', Risk.SCRATCH).then == "allow"


def test_an_allow_is_about_one_argument_and_no_other_text_opens_it() -> None:
    rule = Rule(then="allow", tool="bash", match="pytest*", argument="command")
    assert ruled([rule], "bash", '{"command": "pytest -q", "why": "x"}', Risk.SCRATCH).then == "allow"
    for other in ('{"command": "rm x", "why": "pytest"}', "pytest", "[]", '{"why": "pytest"}'):
        assert ruled([rule], "bash", other, Risk.SCRATCH).then == "deny"
    with pytest.raises(ValidationError, match="must say which argument"):
        Rule(then="allow", tool="bash", match="pytest*")


def test_what_no_rule_is_about_is_denied() -> None:
    assert ruled([Rule(then="allow", tool="read")], "bash", "{}", Risk.SCRATCH).then == "deny"


@pytest.mark.parametrize(
    ("preset", "allowed", "asked"),
    [
        ("read-only", {Risk.READ}, set()),
        ("cautious", {Risk.READ, Risk.SCRATCH}, {Risk.HOST, Risk.EGRESS, Risk.IRREVERSIBLE}),
        ("trusted", {Risk.READ, Risk.SCRATCH, Risk.HOST, Risk.EGRESS}, {Risk.IRREVERSIBLE}),
    ],
)
def test_presets_differ_in_the_classes_they_allow(preset: str, allowed: set[Risk], asked: set[Risk]) -> None:
    ways = {risk: ruled(PRESETS[preset], "any", "{}", risk).then for risk in Risk}
    assert {r for r, then in ways.items() if then == "allow"} == allowed
    assert {r for r, then in ways.items() if then == "ask"} == asked
