"""What an agent puts to a person: a question in words, and a workflow that would run outside the sandbox."""

from __future__ import annotations

from typing import Any

from referee.actions.ask import AskPerson, PlayWorkflow
from referee.domain.question import Asking
from referee.kernel.action import Action
from referee.kernel.policy import WEEK, Ask, Policy, Ruling

_SUMMARY = 160


def ask_in_words(requester: str) -> Policy:
    """Put every question of an agent's to a person, and every workflow that it wants to run."""

    def ruling(action: Action[Any]) -> Ruling | None:
        if isinstance(action, AskPerson):
            rows = [f"{n}. {option}" for n, option in enumerate(action.options, start=1)]
            return Ask(
                kind=Asking.QUESTION,
                summary=_line(action.question),
                shown="\n".join([action.question, "", *rows, *(["(a number, or other words)"] if rows else [])]) + "\n",
                requester=requester,
                options=action.options,
                seconds=WEEK,
            )
        if isinstance(action, PlayWorkflow):
            head = f"Run {action.path}, with the arguments {action.arguments}. It runs as you, outside the sandbox."
            return Ask(
                kind=Asking.APPROVAL,
                summary=f"the agent wants to run the workflow {action.path}, outside the sandbox",
                shown=f"{head} All of it:\n\n{action.text}\n",
                requester=requester,
            )
        return None

    return ruling


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SUMMARY else f"{flat[: _SUMMARY - 1]}…"
