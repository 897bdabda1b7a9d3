"""An author that is a model: brief in, one checked proposal out (E1)."""

from __future__ import annotations

from referee.actions.call_model import CallModel
from referee.authors.suspects import Suspects, nowhere
from referee.context.prompt import Prompt, Role, render, system
from referee.context.schema import proposal_schema
from referee.domain.brief import Brief, Offer
from referee.domain.errors import Exhausted, Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.proposal import PatchProposal
from referee.domain.reason import StopReason
from referee.domain.strict_json import parse, refused
from referee.domain.value import Value
from referee.kernel.run import Run
from referee.ports import Message, ModelReply, ModelRequest

SCHEMA_RETRIES = 2
ROOM = 4  # how much more a reply may hold that was cut off once


class Voice(Value):
    """Which model speaks in which role, and how much it may say. `pressed` speaks when the budget is nearly spent."""

    model: str
    role: Role
    pressed: str | None = None
    max_tokens: int = 8_192
    timeout_seconds: float = 120.0


class ModelAuthor:
    """Asks a model for a proposal, and again, with the reason word for word, if the answer does not fit the form."""

    def __init__(self, voice: Voice, suspects: Suspects = nowhere) -> None:
        self._voice, self._suspects = voice, suspects
        self._asked = 0

    @property
    def name(self) -> str:
        """The role and the model, such as `fixer openai:gpt-5-mini`."""
        return f"{self._voice.role} {self._voice.model}"

    def propose(self, run: Run, brief: Brief) -> Offer:
        """One offer. Raises `Exhausted`: the budget's reason, or `schema_failure` after the last retry."""
        prompt = render(brief, lambda path: run.read(brief.base, path), run.paths(brief.base), self._suspects(run))
        messages: tuple[Message, ...] = (Message(role="user", content=prompt.text),)
        max_tokens = self._voice.max_tokens
        retries, lengthened = 0 if brief.pressed else SCHEMA_RETRIES, False
        while True:
            reply = self._ask(run, brief, messages, max_tokens)
            if reply.finish == "refusal":
                return self._refusal(reply)
            if reply.finish == "length" and not lengthened and not brief.pressed:
                # More room is not a retry for a wrong form; it is granted once.
                run.note(f"{self.name}: the reply was cut off at {max_tokens} tokens; asked again with more room")
                lengthened, max_tokens = True, max_tokens * ROOM
                continue
            try:
                proposal = _checked(reply, prompt)
                return Offer(author=self.name, proposal=proposal)
            except Rejected as wrong:
                objection = str(wrong)
            if retries == 0:
                raise Exhausted(StopReason.SCHEMA_FAILURE, f"{self.name} gave no valid proposal: {objection}")
            retries -= 1
            run.progress("note", {"text": f"{self.name}: {objection}"})
            messages = (*messages, *_again(reply, objection))

    def _ask(self, run: Run, brief: Brief, messages: tuple[Message, ...], max_tokens: int) -> ModelReply:
        voice = self._voice
        self._asked += 1
        request = ModelRequest(
            role=voice.role,
            system=system(voice.role),
            messages=messages,
            reply_schema=proposal_schema(),
            reply_name="patch_proposal",
            max_tokens=max_tokens,
            timeout_seconds=voice.timeout_seconds,
            ordinal=self._asked,
        )
        model = voice.pressed if brief.pressed and voice.pressed else voice.model
        return run.perform(CallModel(model=model, request=request))

    def _refusal(self, reply: ModelReply) -> Offer:
        message = f"{reply.model or self.name} refused to answer: {reply.content[:300] or 'it gave no reason'}"
        finding = Finding(kind=FindingKind.UNAPPLIABLE, check="reply", message=message)
        return Offer(author=self.name, note=message, findings=(finding,))


def _checked(reply: ModelReply, prompt: Prompt) -> PatchProposal:
    """The proposal in a reply. Raises `Rejected` for what is wrong with its form."""
    if reply.finish == "length":
        raise refused("the reply was cut off before its end; answer more briefly and use edits")
    if not reply.content.strip():
        raise refused("the reply was empty; answer with one JSON object")
    proposal = parse(reply.content, PatchProposal)
    for file in proposal.files:
        # To replace a whole file one must have read the whole file (case G13).
        if file.action == "modify" and file.content is not None and file.path in prompt.parts:
            raise refused(f"{file.path} was shown to you in part, so `content` cannot replace it; use `edits`")
    return proposal


def _again(reply: ModelReply, objection: str) -> tuple[Message, Message]:
    said = reply.content if reply.content.strip() else "(nothing)"
    return (
        Message(role="assistant", content=said),
        Message(role="user", content=f"Your answer was refused:\n{objection}\nAnswer with the JSON object again."),
    )
