"""`referee validate` from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import small

from referee.cli import main

SCHEMA = {
    "$defs": {
        "price": {"type": "number", "exclusiveMinimum": 0},
        "item": {"type": "object", "properties": {"price": {"$ref": "#/$defs/price"}}},
    },
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "prefixItems": [{"type": "string"}],
            "items": {
                "anyOf": [{"type": "string"}, {"type": "object", "properties": {"price": {"$ref": "#/$defs/price"}}}]
            },
        }
    },
    "required": ["items"],
    "unevaluatedProperties": False,
}
MODEL = """
from pydantic import BaseModel, field_validator
import os
print("imported", os.path.exists("/tmp/outside"))
open("written-inside", "w").close()

class Order(BaseModel):
    amount: int

    @field_validator("amount")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value
"""
Referee = Callable[..., SimpleNamespace]


@pytest.fixture
def referee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Referee:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))

    def run(*arguments: str, **files: str) -> SimpleNamespace:
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        code = main(["validate", *arguments])
        said = capfd.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return run


def test_each_error_is_a_line_with_its_path(referee: Referee) -> None:
    text = '{"items": [1, {"price": 0}, "x"], "more": 1}'
    done = referee("s.json", "good.json", "bad.json", good__json='{"items": []}', bad__json=text)
    assert done.code == 1
    assert [line.rpartition(": ")[0].split(": ")[:2] for line in done.out.splitlines()] == [
        ["bad.json", "$"],
        ["bad.json", "$.items[0]"],
        ["bad.json", "$.items[1].price"],
    ]
    assert "'more' was unexpected" in done.out


def test_valid_documents_say_nothing(referee: Referee) -> None:
    done = referee("s.json", "a.json", "b.jsonl", "c.toml", "--json", a__json='{"items": ["x"]}',
                   b__jsonl='{"items": []}\n\n{"items": ["y"]}\n', c__toml='items = ["x"]\n')  # fmt: skip
    assert (done.code, json.loads(done.out)) == (0, {"valid": True, "violations": []})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON"),
        ('{"items": [], "items": []}', "given twice"),
        ('{"items": [NaN]}', "NaN is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_an_error_of_its_file(referee: Referee, text: str, words: str) -> None:
    done = referee("s.json", "bad.json", bad__json=text)
    assert done.code == 1 and done.out.startswith("bad.json: $: ") and words in done.out


def test_a_line_of_many_is_named(referee: Referee) -> None:
    done = referee("s.json", "a.jsonl", a__jsonl='{"items": []}\n{"items": 1}\n')
    assert done.out.startswith("a.jsonl:2: $.items: ")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"type": "nothing"}', "no valid schema: $.type"),
        ('{"$schema": "urn:own"}', "not known here"),
        ('{"$ref": "https://example.invalid/other.json"}', "nothing is fetched"),
        ("{", "it is not JSON"),
    ],
)
def test_a_schema_that_is_none_is_refused(referee: Referee, schema: str, words: str) -> None:
    done = referee("own.json", "a.json", own__json=schema, a__json='{"items": []}')
    assert done.code == 2 and words in done.err and not done.out


def test_a_missing_file_is_refused(referee: Referee) -> None:
    assert referee("s.json", "nowhere.json").code == 2


def test_a_model_is_used_inside_the_sandbox_only(referee: Referee, tmp_path: Path) -> None:
    small.build(tmp_path, {"shop/__init__.py": "", "shop/orders.py": MODEL})
    done = referee(
        "shop.orders:Order", "a.json", "b.json", a__json='{"amount": 3}', b__json='{"amount": 4}',
    )  # fmt: skip
    assert (done.code, done.out) == (1, "a.json: $.amount: Value error, must be even\n"), done.err
    assert not (tmp_path / "written-inside").exists()
    lost = referee("shop.orders:Nothing", "a.json")
    assert lost.code == 2 and "Nothing" in lost.err
