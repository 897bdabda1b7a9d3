"""Which rule decides about a call."""

from __future__ import annotations

import itertools

import pytest

from referee.domain.permission import PRESETS, Rule, ruled
from referee.domain.risk import Risk

SPECIFIC = [Rule(then=then, tool="bash", match="*rm *") for then in ("deny", "ask", "allow")]
GENERAL = [Rule(then=then, risk=Risk.SCRATCH) for then in ("deny", "ask", "allow")]


def test_specific_before_general_and_deny_before_ask_before_allow() -> None:
    ladder = [*SPECIFIC, *GENERAL]
    for first, second in itertools.combinations(ladder, 2):
        for rules in ([first, second], [second, first]):
            assert ruled(rules, "bash", '{"command": "rm x"}', Risk.SCRATCH) is first


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
