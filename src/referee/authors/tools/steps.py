"""The steps of a workflow's file: each is a call like a model's, in the room of whoever runs it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from referee.actions.ask import PlayWorkflow
from referee.domain.canonical import digest_of
from referee.domain.errors import RefereeError
from referee.domain.observation import Observation, failed
from referee.domain.workflow import Step, Workflow
from referee.ports import ToolCall
from referee.tools.delegating import MOST
from referee.tools.room import Room
from referee.tools.toolbox import Toolbox

T = TypeVar("T")
Do = Callable[[str, Mapping[str, Any]], Step]


class Flow:
    """What a workflow's `main` is given. Every step is ruled on, paid for, recorded and recalled on a resume.

    So the file must do the same steps in the same order each time: no clock, no chance, no files of its own.
    """

    def __init__(self, do: Do, arguments: Mapping[str, Any]) -> None:
        self._do, self.arguments = do, arguments

    def agent(self, task: str, *, context: str = "", write: bool = False) -> Step:
        """Let an agent work on a copy; with `write` its changes are taken over."""
        return self._do("agent", {"tasks": [{"task": task, "context": context, "write": write}]})

    def parallel(self, tasks: Sequence[str], *, context: str = "", write: bool = False) -> list[Step]:
        """Several agents at once, by fours; one step for each four. Of two that changed one file, the first counts."""
        parts = [{"task": t, "context": context, "write": write} for t in tasks]
        return [self._do("agent", {"tasks": parts[i : i + MOST]}) for i in range(0, len(parts), MOST)]

    def pipeline(self, items: Iterable[T], *stages: Callable[[Any], Any]) -> list[Any]:
        """Each item through all stages, one after the other."""
        done: list[Any] = []
        for item in items:
            value: Any = item
            for stage in stages:
                value = stage(value)
            done.append(value)
        return done

    def check(self, *targets: str) -> Step:
        """What the judge says of the files as they are now."""
        return self._do("check", {"targets": list(targets)} if targets else {})

    def bash(self, command: str, why: str = "a step of the workflow") -> Step:
        """A command in the sandbox; the files it changes are kept."""
        return self._do("bash", {"command": command, "why": why})


def stepping(room: Room, toolbox: Toolbox, outcomes: list[tuple[str, str]], prefix: str = "") -> Do:
    """What does a step in `room`: a call like a model's, counted by `outcomes`, to which its own is added."""

    def do(tool: str, arguments: Mapping[str, Any]) -> Step:
        call = ToolCall(id=f"{prefix}step-{len(outcomes) + 1}", name=tool, arguments=json.dumps(arguments))
        observed = toolbox.call(room, call)
        outcomes.append((tool, observed.outcome))
        return Step(text=observed.text, ok=observed.outcome == "done")

    return do


def play(room: Room, toolbox: Toolbox, path: str, arguments: str) -> Observation:
    """What the tool `workflow` does: the file's steps, in a room of their own, once a person has allowed its text."""
    data = room.read(path)
    if data is None:
        return failed(f"there is no file {path}")
    text = data.decode("utf-8", "replace")
    room.run.perform(PlayWorkflow(path=path, text=text, arguments=arguments))
    workflow = Workflow(path=path, text=text, arguments=json.loads(arguments))
    inner = replace(room, seen={}, scratch=dict(room.scratch), notes=[], jobs=[], granted=set())
    outcomes: list[tuple[str, str]] = []
    flow = Flow(stepping(inner, toolbox, outcomes, f"{digest_of(room.run.here)[:6]}-"), workflow.arguments)
    try:
        observed = Observation(text=played(workflow, flow))
    except Wrong as wrong:
        observed = failed(str(wrong))
    tree = "" if inner.tree == room.tree else inner.tree
    said = f"{observed.text}\n[{path}: {len(outcomes)} steps{'; files were changed' if tree else ''}]"
    return observed.model_copy(update={"text": said, "tree": tree, "ordinal": inner.ordinal})


class Wrong(Exception):
    """What is wrong in the file, with its line."""


def played(workflow: Workflow, flow: Flow) -> str:
    """What `main(flow)` of the file returns, in words. Raises `Wrong`."""
    scope: dict[str, Any] = {"__name__": "workflow", "__file__": workflow.path}
    try:
        exec(compile(workflow.text, workflow.path, "exec"), scope)  # noqa: S102 - the person's own file, named by them
        main = scope.get("main")
        if not callable(main):
            raise Wrong(f"{workflow.path} has no function main(flow)")
        return str(main(flow) or "the workflow came to its end")
    except (RefereeError, Wrong):
        raise
    except Exception as wrong:
        frames = [f for f in traceback.extract_tb(wrong.__traceback__) if f.filename == workflow.path]
        line = frames[-1].lineno if frames else getattr(wrong, "lineno", None)
        raise Wrong(f"{workflow.path}, line {line}: {type(wrong).__name__}: {wrong}") from wrong
