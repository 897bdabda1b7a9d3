"""Scripts and recordings: the same answers again, and a sentence when there is none."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from referee.adapters.models.prices import stated
from referee.adapters.models.recorded import RecordedModel, RecordingModel, request_digest
from referee.adapters.models.scripted import ScriptedModel
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Message, ModelReply, ModelRequest, Price, Usage


def request(role: Any = "generator", text: str = "x", **more: Any) -> ModelRequest:
    return ModelRequest(role=role, system="s", messages=(Message(role="user", content=text),), **more)


def script(folder: Path, *lines: dict[str, Any] | str) -> str:
    path = folder / "script.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return str(path)


def test_each_role_has_its_own_lines_and_the_last_repeats(tmp_path: Path) -> None:
    lines = [("generator", "g1"), ("fixer", "f1"), ("generator", "g2")]
    model = ScriptedModel(script(tmp_path, *({"role": r, "content": c} for r, c in lines)))
    said = [model.call(request(role)).content for role in ("generator", "fixer", "generator", "generator", "fixer")]
    assert said == ["g1", "f1", "g2", "g2", "f1"]


def test_a_resumed_run_finds_its_place_by_the_ordinal(tmp_path: Path) -> None:
    path = script(tmp_path, *({"role": "fixer", "content": str(n)} for n in (1, 2, 3)))
    assert ScriptedModel(path).call(request("fixer", ordinal=2)).content == "2"
    assert ScriptedModel(path).call(request("fixer", ordinal=9)).content == "3"


def test_sub_agents_without_lines_of_their_own_speak_those_of_an_agent(tmp_path: Path) -> None:
    lines = [{"role": "agent", "content": "a"}, {"role": "fixer", "content": "f"}]
    assert ScriptedModel(script(tmp_path, *lines)).call(request("subagent", ordinal=1)).content == "a"
    own = script(tmp_path, *lines, {"role": "subagent", "content": "s"})
    assert ScriptedModel(own).call(request("subagent", ordinal=1)).content == "s"


def test_tokens_cost_and_finish_come_from_the_line(tmp_path: Path) -> None:
    line = {"role": "generator", "content": "c", "input_tokens": 7, "output_tokens": 3, "cost_usd": "0.25"}
    model = ScriptedModel(script(tmp_path, line, {"role": "generator", "finish": "length"}))
    first, second = model.call(request()), model.call(request())
    assert (first.usage, first.cost_usd) == (Usage(fresh_input=7, output=3), Decimal("0.25"))
    assert (second.finish, second.cost_usd, model.price().output) == ("length", Decimal(0), Decimal(0))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2"),
        ({"role": "nobody", "content": ""}, "line 2: role"),
        ({"role": "fixer", "text": ""}, "line 2: text: Extra inputs are not permitted"),
        ({"role": "fixer", "input_tokens": -1}, "line 2: input_tokens"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ScriptedModel(script(tmp_path, {"role": "fixer", "content": "ok"}, line))


def test_a_missing_file_and_a_missing_role_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        ScriptedModel(str(tmp_path / "none.jsonl"))
    model = ScriptedModel(script(tmp_path, {"role": "fixer", "content": ""}))
    with pytest.raises(UsageError, match=r"no line for the role generator \(roles in it: fixer\)"):
        model.call(request())


class Counting:
    """Answers with the number of the call."""

    name = "t:one"

    def __init__(self, price: Price | None) -> None:
        self._price, self.calls = price, 0

    def price(self) -> Price | None:
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        return ModelReply(content=str(self.calls), usage=Usage(fresh_input=1_000_000), model="one")


def test_what_was_recorded_is_replayed_with_its_cost_and_price(tmp_path: Path) -> None:
    path, inner = str(tmp_path / "r.jsonl"), Counting(stated("2,8"))
    recording = RecordingModel(inner, path)
    for n in (1, 2):
        recording.call(request(text="same", ordinal=n, timeout_seconds=n))
    replay = RecordedModel(path)
    replies = [replay.call(request(text="same", ordinal=n, timeout_seconds=60.0)) for n in (2, 1, 1)]
    assert [r.content for r in replies] == ["2", "1", "1"]
    assert replies[0].cost_usd == Decimal(2)
    assert replay.price().output == Decimal(8)
    assert inner.calls == 2


def test_a_request_that_was_never_recorded_is_refused_in_words(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    RecordingModel(Counting(None), path).call(request())
    with pytest.raises(UsageError, match=r"no reply to this fixer request \([0-9a-f]{12}\).*--record"):
        RecordedModel(path).call(request("fixer"))


def test_a_recording_that_cannot_be_written_is_the_operators_to_mend(tmp_path: Path) -> None:
    with pytest.raises(WorldFault, match="cannot write the recording"):
        RecordingModel(Counting(None), str(tmp_path / "none" / "r.jsonl")).call(request())


def test_a_request_is_known_by_what_decides_its_answer() -> None:
    same = request_digest(request(timeout_seconds=1.0))
    assert same == request_digest(request(timeout_seconds=2.0))
    assert len({same, request_digest(request(text="y")), request_digest(request(ordinal=1))}) == 3
