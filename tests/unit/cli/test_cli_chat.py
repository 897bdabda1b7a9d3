"""A conversation: each line a run, the slash commands, the budget of the whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee import api
from referee.cli.chat import Chat
from referee.cli.conversation import converse
from referee.config import Config, load
from referee.domain.errors import Cancelled, UsageError
from referee.domain.report import Outcome
from referee.domain.task import Task

sys.path.append(str(Path(__file__).parents[2] / "flows"))

import small


def yes(_: str) -> str:
    return "yes"


def talk(
    repo: Path, answers: Sequence[Mapping[str, Any]], *said: str, ask: Callable[[str], str] = yes
) -> tuple[Chat, list[str]]:
    """A conversation in `repo`; asked, the person says yes, or what `ask` does."""
    shown, texts = list[str](), list[str]()
    scripts = iter(answers)

    def act(text: str, config: Config) -> Outcome:
        texts.append(text)
        script = repo.parent / f"script{len(texts)}.jsonl"
        lines = [{"role": "agent", "input_tokens": 60, **line} for line in next(scripts)["lines"]]
        script.write_text("".join(json.dumps(line) + "\n" for line in lines))
        models = config.models.model_copy(update={"default": f"scripted:{script}"})
        return api.agent(Task(repo=str(repo), text=text), config.model_copy(update={"models": models}))

    config = load(str(repo), variables={}, user_file="")
    chat = Chat(
        repo=str(repo), config=config, act=act, resume=lambda run_id: api.resume(run_id, str(repo)), ask=ask,
        say=shown.append,
    )  # fmt: skip
    for line in said:
        assert chat.line(line)
    shown += [f"TOLD {text}" for text in texts]
    return chat, shown


def test_lines_are_runs_that_land_and_are_taken_back(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "new.txt", "content": "hello\n"}}]}
    answers: list[dict[str, object]] = [
        {"lines": [write, {"content": "written"}]},
        {"lines": [{"content": "one line"}]},
    ]
    chat, shown = talk(
        repo, answers, "write hello", "/diff", "/budget", "how long is notes.txt?", "/undo", "/compact", "/what"
    )
    whole = "\n".join(shown)
    assert not (repo / "new.txt").exists(), "landed with a yes, and taken back"
    assert "+hello" in whole
    assert "No check can judge this change" in whole
    assert "taken back: new.txt" in whole
    assert "120 of 400,000 tokens" in whole
    assert (
        "TOLD how long is notes.txt?\n\nEarlier in this conversation (done, for reference):\n- asked: write hello"
        in whole
    )
    assert "2 exchanges, shortened" in whole
    assert "/quit" in shown[-3], "what is no command gets the list"
    assert not chat.line("/quit")


def test_a_fault_of_one_task_does_not_end_the_conversation(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    _, shown = talk(repo, [{"lines": [{"content": ""}]}, {"lines": [{"content": "fine"}]}], "first", "/undo", "second")
    assert "there is nothing to take back" in shown
    assert any("fine" in text for text in shown)


def test_what_is_neither_yes_nor_no_leaves_the_question_open(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "new.txt", "content": "hello\n"}}]}
    replies: list[str | BaseException] = ["", EOFError(), KeyboardInterrupt(), "no"]

    def ask(_: str) -> str:
        reply = replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    tasks = [f"write hello {n}" for n in range(4)]
    chat, shown = talk(repo, [{"lines": [write, {"content": "written"}]}] * 4, *tasks, ask=ask)
    assert [o.stop_reason.value for o in chat.runs] == [*["needs_signature"] * 3, "human_abort"]
    open_ones = [q for q in api.questions(str(repo)) if q.status == "open"]
    assert {q.run_id for q in open_ones} == {o.report.run_id for o in chat.runs[:3]}
    assert sum("so it waits: referee answer" in text for text in shown) == 3
    assert not (repo / "new.txt").exists()


def test_ctrl_c_before_a_run_began_does_not_end_the_conversation(tmp_path: Path) -> None:
    def act(text: str, config: Config) -> Outcome:
        raise Cancelled("stopped by a person")

    shown: list[str] = []
    chat = Chat(repo=str(tmp_path), config=Config(), act=act, resume=lambda _: pytest.fail(), ask=yes, say=shown.append)
    assert chat.line("anything")
    assert shown == ["referee: stopped by a person"]


def test_without_a_terminal_there_is_no_conversation() -> None:
    with pytest.raises(UsageError, match="give a task"):
        converse(".", Config())
