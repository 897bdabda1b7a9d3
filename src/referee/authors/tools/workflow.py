"""A workflow as an author: its file is the loop, and each of its steps is a call like a model's."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from referee.authors.asking import Voice
from referee.authors.tools.author import ToolAuthor
from referee.domain.brief import Brief, Offer
from referee.domain.errors import Exhausted, RefereeError, UsageError
from referee.domain.reason import StopReason
from referee.domain.workflow import Step, Workflow
from referee.kernel.run import Run
from referee.ports import ToolCall
from referee.tools.delegating import MOST
from referee.tools.room import Place

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


class WorkflowAuthor(ToolAuthor):
    """Runs the file once; the files as it leaves them are the proposal."""

    def __init__(self, voice: Voice, place: Place, workflow: Workflow) -> None:
        super().__init__(voice, place)
        self._workflow, self._steps = workflow, 0

    @property
    def name(self) -> str:
        """`workflow` and the file."""
        return f"workflow {self._workflow.path}"

    def propose(self, run: Run, brief: Brief) -> Offer:
        """What the file comes to. Raises `UsageError`, with the line, for what is wrong in it.

        After its first step that is `Exhausted`: a resume runs the same file, and what was done is to be shown.
        """
        if self._room is not None:
            return self._nothing("the workflow has come to its end; what it made was not taken")
        room = self._furnished(run, brief)

        def do(tool: str, arguments: Mapping[str, Any]) -> Step:
            self._steps += 1
            call = ToolCall(id=f"step-{self._steps}", name=tool, arguments=json.dumps(arguments))
            observed = self._toolbox.call(room, call)
            self._outcomes.append((tool, observed.outcome))
            return Step(text=observed.text, ok=observed.outcome == "done")

        try:
            answer = _played(self._workflow, Flow(do, self._workflow.arguments))
        except _Wrong as wrong:
            if not self._steps:
                raise UsageError(str(wrong)) from wrong
            raise Exhausted(StopReason.NON_PROGRESS, str(wrong)) from wrong
        return self._offer(run, brief, room, answer)


class _Wrong(Exception):
    """What is wrong in the file, with its line."""


def _played(workflow: Workflow, flow: Flow) -> str:
    """What `main(flow)` of the file returns, in words. Raises `_Wrong`."""
    scope: dict[str, Any] = {"__name__": "workflow", "__file__": workflow.path}
    try:
        exec(compile(workflow.text, workflow.path, "exec"), scope)  # noqa: S102 - the person's own file, named by them
        main = scope.get("main")
        if not callable(main):
            raise _Wrong(f"{workflow.path} has no function main(flow)")
        return str(main(flow) or "the workflow came to its end")
    except (RefereeError, _Wrong):
        raise
    except Exception as wrong:
        frames = [f for f in traceback.extract_tb(wrong.__traceback__) if f.filename == workflow.path]
        line = frames[-1].lineno if frames else getattr(wrong, "lineno", None)
        raise _Wrong(f"{workflow.path}, line {line}: {type(wrong).__name__}: {wrong}") from wrong
