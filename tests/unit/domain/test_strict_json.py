"""One JSON object out of a reply, by grammar, and what is said when there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.domain.errors import Rejected
from referee.domain.finding import FindingKind
from referee.domain.proposal import PatchProposal
from referee.domain.strict_json import extract, parse

GOOD: dict[str, Any] = {
    "analysis": "a",
    "root_cause": "r",
    "files": [{"path": "a.py", "action": "modify", "content": "x = 1\n", "rationale": "why"}],
}


def said(reply: str) -> str:
    with pytest.raises(Rejected) as raised:
        parse(reply, PatchProposal)
    assert [f.kind for f in raised.value.findings] == [FindingKind.UNAPPLIABLE]
    return str(raised.value)


def with_file(**changes: Any) -> str:
    file = {k: v for k, v in {**GOOD["files"][0], **changes}.items() if v is not ...}
    return json.dumps({**GOOD, "files": [file]})


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Here you are:\n```json\n{}\n```\nHope it helps.",
        "```\n{}\n```",
        "The set {{1, 2}} and the dict {{}} in {{braces}}: {} see [docs] and {{}}",
        "\ufeff{}",
        "[{}]",
        "```json\n{}",
    ],
)
def test_chatter_and_fences_around_one_object_are_stripped(around: str) -> None:
    """Cases G1, G3."""
    text = json.dumps(GOOD)
    given = around.replace("{{", "\0").replace("}}", "\1").replace("{}", text)
    assert extract(given.replace("\0", "{").replace("\1", "}")) == GOOD


def test_backticks_in_a_string_end_no_fence() -> None:
    """Case G2."""
    reply = "```json\n" + with_file(content="```python\nx\n```\n") + "\n```"
    assert parse(reply, PatchProposal).files[0].content == "```python\nx\n```\n"


@pytest.mark.parametrize("between", ["", "\n", "\n```\nor rather\n```json\n"])
def test_two_objects_are_an_error_of_their_own(between: str) -> None:
    """Case G3."""
    assert "more than one JSON object" in said(json.dumps(GOOD) + between + json.dumps(GOOD))


def test_a_second_object_that_is_broken_is_still_a_second_object() -> None:
    assert "more than one" in said(json.dumps(GOOD) + ' correction: {"analysis": "b')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": 1e999}', "1e999 is too large"),
        ('{"a": ' + "9" * 5000 + "}", "is too large"),
        ('{"path": "a", "path": "b"}', "'path' is given twice"),
        ('{"a": {"b": 1, "b": 1}}', "'b' is given twice"),
        ('{"a": ' + "[" * 64 + "]" * 64 + "}", "deeper than 64"),
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "deeper than 64"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ('{"a": "' + "x" * (2 << 20) + '"}', "longer than 2 MiB"),
        ('{"a": "b', "ends too early"),
        ('{"a": [1, 2', "ends too early"),
        ('{"a": 1,}', "column 9"),
        ('{"a": "line\nbreak"}', "control character"),
        ("no object", "no JSON object"),
        ("", "no JSON object"),
        ("{'a': 1}", "no JSON object"),
        ("[1, 2]", "no JSON object"),
    ],
)
def test_what_a_strict_decoder_refuses(text: str, words: str) -> None:
    """Case G5: the same answer whatever the library in use would do."""
    assert words in said(text)


def test_sixty_four_levels_are_allowed() -> None:
    assert extract('{"a": ' + "[" * 63 + "]" * 63 + "}")


def test_a_truncated_object_is_not_read_as_one_of_its_parts() -> None:
    assert "ends too early" in said(json.dumps(GOOD)[:-2])


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (json.dumps({**GOOD, "files": []}), "files: Tuple should have at least 1 item"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "analysis"}), "analysis is missing"),
        (json.dumps({**GOOD, "extra": 1}), "extra is not a key of the schema"),
        (json.dumps({**GOOD, "risk": "extreme"}), "risk: Input should be 'low', 'medium' or 'high'"),
        (json.dumps({**GOOD, "touches_external": "yes"}), "touches_external: Input should be a valid boolean"),
        (json.dumps({**GOOD, "analysis": "x" * 2001}), "analysis: String should have at most 2000 characters"),
        (with_file(rationale=...), "files[0].rationale is missing"),
        (with_file(content=...), "takes either content or edits"),
        (with_file(content=1), "files[0].content"),
        (json.dumps({**GOOD, "files": GOOD["files"] * 2}), "is named twice"),
    ],
)
def test_a_violation_is_said_in_one_line_a_model_can_act_on(reply: str, words: str) -> None:
    text = said(reply)
    assert words in text
    assert "pydantic" not in text


def test_many_violations_are_counted_not_listed() -> None:
    reply = json.dumps({**GOOD, **{f"k{i}": i for i in range(30)}})
    text = said(reply)
    assert text.count("\n") == 9
    assert text.endswith("and 22 more")
