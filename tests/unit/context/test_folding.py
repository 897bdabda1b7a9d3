"""Folding keeps the task, the conclusions and every pair of call and result; the same history folds the same way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.context.folding import State, folded, outputs, size
from referee.domain.observation import Note, Todo
from referee.ports import Message, ToolCall

TASK = Message(role="user", content="# Task\nmend add, and nothing else")
STATE = State(
    todo=(Todo(text="find it", state="done"), Todo(text="mend it")),
    notes=(Note(text="use a set", kind="decision"), Note(text="tried B, it is too slow", kind="attempt")),
    changed=("src/calc.py",),
    failed=("bash pytest: exit code 1",),
)


def step(n: int, texts: Sequence[str]) -> list[Message]:
    calls = tuple(ToolCall(id=f"c{n}.{k}", name="bash", arguments='{"command": "make"}') for k in range(len(texts)))
    told = [Message(role="tool", content=t, call_id=c.id, tool="bash") for c, t in zip(calls, texts, strict=True)]
    return [Message(role="assistant", content=f"step {n}", calls=calls), *told]


def whole(messages: Sequence[Message]) -> None:
    """Every result follows the answer that called for it, every call has its result, nothing is there twice."""
    waiting: list[str] = []
    seen = set[str]()
    for message in messages:
        if message.role == "tool":
            assert waiting and waiting.pop(0) == message.call_id, message.call_id
            continue
        assert not waiting, f"{waiting} have no result"
        waiting = [c.id for c in message.calls]
        assert not seen & set(waiting)
        seen |= set(waiting)
    assert not waiting


history = st.lists(st.lists(st.integers(0, 3_000).map("x".__mul__), min_size=0, max_size=4), min_size=0, max_size=60)


@settings(max_examples=60)
@given(history, st.integers(600, 8_000), st.lists(st.integers(0, 60), max_size=4))
def test_no_pair_is_parted_and_the_task_is_kept(texts: list[list[str]], window: int, said: list[int]) -> None:
    messages = [TASK]
    for n, told in enumerate(texts):
        messages += step(n, told)
        if n in said:
            messages.append(Message(role="user", content=f"# Judged: not taken\n{n}"))
    found = folded(messages, STATE, window)
    if found is None:
        return
    whole(found.messages)
    assert found.messages[0] == TASK
    assert size(found.messages) <= size(messages)
    again = folded(messages, STATE, window)
    assert again == found, "the same conversation folds to the same one"


def test_a_history_of_ten_thousand_steps_folds_again_and_again() -> None:
    messages, window, folds = [TASK], 20_000, 0
    for n in range(10_000):
        messages += step(n, [f"line {n}\n" * 12, "ok\n[exit code 0]"])
        if n % 25 == 0 and (found := folded(messages, STATE, window)) is not None:
            messages, folds = list(found.messages), folds + bool(found.away)
            whole(messages)
            assert size(messages) <= window * 0.8
    assert messages[0] == TASK
    assert folds > 20


def test_old_output_goes_first_and_can_be_read_again() -> None:
    messages = [TASK]
    for n in range(30):
        messages += step(n, [f"{'long ' * 200}\n[exit code {n}]"])
    found = folded(messages, STATE, int(size(messages) / 0.9))
    assert found is not None
    assert not found.away, "that was enough"
    assert len(found.dropped) == 20
    line = found.messages[2].content
    assert line.startswith('[bash {"command": "make"}: exit code 0; output dropped')
    assert outputs("c0.0") in line
    assert found.messages[-1] == messages[-1], "the last answers keep theirs"


def test_what_was_dropped_once_is_not_dropped_again() -> None:
    """Else the line in its place would overwrite the output that it names."""
    messages, dropped = [TASK], dict[str, str]()
    for n in range(60):
        messages += step(n, [f"{f'{n} long ' * 100}\n[{'exit code 1 ' * 20}]"])
        if (found := folded(messages, STATE, 12_000)) is not None:
            assert not dropped.keys() & found.dropped.keys()
            dropped, messages = {**dropped, **found.dropped}, list(found.messages)
    assert len(dropped) > 20
    assert all(text.startswith(f"{call[1:].partition('.')[0]} long") for call, text in dropped.items())


def test_conclusions_stay_when_the_middle_goes() -> None:
    messages = [TASK]
    for n in range(60):
        messages += step(n, ["x" * 150])
    found = folded(messages, STATE, 1_500)
    assert found is not None
    summary = found.messages[1].content
    for kept in ("use a set", "tried B, it is too slow", "[open] mend it", "src/calc.py", "bash pytest: exit code 1"):
        assert kept in summary
    whole(found.messages)


@pytest.mark.parametrize("name", ["../../x", "a/b", "call:1"])
def test_the_place_of_an_output_is_a_plain_name(name: str) -> None:
    assert (
        outputs(name).startswith(".harness/outputs/call-")
        and "/" not in outputs(name)[17:]
        and ".." not in outputs(name)
    )
