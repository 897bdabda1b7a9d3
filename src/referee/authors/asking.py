"""Asking a model until its answer has the required form, and no further than the budget goes (E1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from referee.actions.call_model import CallModel
from referee.context.prompt import Role
from referee.domain.errors import Exhausted, Rejected
from referee.domain.reason import StopReason
from referee.domain.strict_json import refused
from referee.domain.value import Value
from referee.kernel.run import Run
from referee.ports import Message, ModelReply, ModelRequest

SCHEMA_RETRIES = 2
ROOM = 4  # how much more a reply may hold that was cut off once

V = TypeVar("V", bound=Value)


class Voice(Value):
    """Which model speaks in which role, and how much it may say. `pressed` speaks when the budget is nearly spent.

    `lane` is the number of this one among how many that speak in this role at the same time, `after` the ordinal of the
    last request that was made in it before them.
    """

    model: str
    role: Role
    pressed: str | None = None
    max_tokens: int = 8_192
    timeout_seconds: float = 120.0
    lane: tuple[int, int] = (1, 1)
    after: int = 0

    def ordinal(self, asked: int) -> int:
        """Of its request number `asked`: those who speak at the same time count by turns."""
        n, many = self.lane
        return self.after + (asked - 1) * many + n


class Question(Value):
    """What a model is asked. `wanted` names in two words what it must answer with, for messages."""

    system: str
    text: str
    reply_schema: Mapping[str, Any]
    reply_name: str
    wanted: str
    pressed: bool = False


class Declined(Exception):
    """The model would not answer at all; the message quotes what it said."""


class Asker:
    """Asks one voice, and again, with the reason word for word, when the answer does not fit the form."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._asked = 0

    @property
    def name(self) -> str:
        """The role and the model, such as `fixer openai:gpt-5-mini`."""
        return f"{self._voice.role} {self._voice.model}"

    def ask(self, run: Run, question: Question, read: Callable[[str], V]) -> V:
        """The answer as `read` takes it, which raises `Rejected` for a wrong form.

        Raises `Declined`, or `Exhausted`: the budget's reason, or `schema_failure` after the last retry.
        """
        messages: tuple[Message, ...] = (Message(role="user", content=question.text),)
        max_tokens = self._voice.max_tokens
        retries, lengthened = 0 if question.pressed else SCHEMA_RETRIES, False
        while True:
            reply = self._call(run, question, messages, max_tokens)
            if reply.finish == "refusal":
                said = reply.content[:300] or "it gave no reason"
                raise Declined(f"{reply.model or self.name} refused to answer: {said}")
            if reply.finish == "length" and not lengthened and not question.pressed:
                # More room is not a retry for a wrong form; it is granted once.
                run.note(f"{self.name}: the reply was cut off at {max_tokens} tokens; asked again with more room")
                lengthened, max_tokens = True, max_tokens * ROOM
                continue
            try:
                return read(_text(reply))
            except Rejected as wrong:
                objection = str(wrong)
            if retries == 0:
                raise Exhausted(StopReason.SCHEMA_FAILURE, f"{self.name} gave no {question.wanted}: {objection}")
            retries -= 1
            run.progress("note", {"text": f"{self.name}: {objection}"})
            messages = (*messages, *_again(reply, objection))

    def _call(self, run: Run, question: Question, messages: tuple[Message, ...], max_tokens: int) -> ModelReply:
        voice = self._voice
        self._asked += 1
        request = ModelRequest(
            role=voice.role,
            system=question.system,
            messages=messages,
            reply_schema=question.reply_schema,
            reply_name=question.reply_name,
            max_tokens=max_tokens,
            timeout_seconds=voice.timeout_seconds,
            ordinal=voice.ordinal(self._asked),
        )
        model = voice.pressed if question.pressed and voice.pressed else voice.model
        return run.perform(CallModel(model=model, request=request))


def _text(reply: ModelReply) -> str:
    """What a reply says. Raises `Rejected` if it says nothing, or only a part."""
    if reply.finish == "length":
        raise refused("the reply was cut off before its end; answer more briefly")
    if not reply.content.strip():
        raise refused("the reply was empty; answer with one JSON object")
    return reply.content


def _again(reply: ModelReply, objection: str) -> tuple[Message, Message]:
    said = reply.content if reply.content.strip() else "(nothing)"
    return (
        Message(role="assistant", content=said),
        Message(role="user", content=f"Your answer was refused:\n{objection}\nAnswer with the JSON object again."),
    )
