"""The tool loop: a model calls tools in a workspace of its own until it answers in words (H1, H2)."""

from __future__ import annotations

import json
from collections import Counter

from referee.actions.call_model import CallModel
from referee.actions.fold import Fold
from referee.authors.asking import Voice
from referee.authors.tools.around import surrounded
from referee.authors.tools.delegation import delegated
from referee.authors.tools.steps import play
from referee.context.folding import FULL, WINDOW, State, failure, folded, outputs, size
from referee.context.memory import index
from referee.context.skills import catalogue, found, loaded
from referee.context.working import SYSTEM, first_message, next_message
from referee.domain.brief import Brief, Offer
from referee.domain.errors import Exhausted
from referee.domain.finding import Finding, FindingKind
from referee.domain.guards import Made, made, stuck
from referee.domain.guides import guide
from referee.domain.metrics import Metrics, measured
from referee.domain.observation import Observation, Presented
from referee.domain.reason import StopReason
from referee.kernel.run import Run
from referee.ports import Message, ModelReply, ModelRequest, ToolCall
from referee.tools.guards import stopped
from referee.tools.room import Place, Room
from referee.tools.toolbox import Toolbox

CUT_OFF = "Your answer was cut off at its limit. Go on in smaller steps: write long files in parts, with edit."
NOTHING = "You said nothing and called nothing. Call a tool, or end with an answer in words."
OTHERWISE = "Do something else, or end and say what is in the way; the next time the run is stopped"
HOLDS = 3  # times that a hook may keep an agent from stopping
# What somebody hired for a part of the work has no use for: it asks no person, remembers nothing and hires nobody.
ALONE = (
    "agent", "workflow", "check", "remember", "forget", "ask", "present", "request", "schedule", "schedule_remove",
)  # fmt: skip
EMPTY = 3  # answers without a word or a call, after which nobody waits for one


class ToolAuthor:
    """Works in a room that stays the same from proposal to proposal; what was judged comes back as a message."""

    def __init__(self, voice: Voice, place: Place, toolbox: Toolbox | None = None, window: int = WINDOW) -> None:
        self._voice, self._place, self._toolbox = voice, place, toolbox or Toolbox()
        self._room: Room | None = None
        self._messages: list[Message] = []
        self._outcomes: list[tuple[str, str]] = []
        self._asked = self._held = 0
        self._window, self._start = window, ""
        self._made: list[Made] = []
        self._failed: list[str] = []
        self._judged = ""
        self._warned_at: int | None = None
        self._ids: Counter[str] = Counter()
        self._answered: set[str] = set()
        self._skills = ""

    @property
    def name(self) -> str:
        """The role and the model, such as `agent openai:gpt-5-mini`."""
        return f"agent {self._voice.model}"

    @property
    def metrics(self) -> Metrics:
        """How the tools were used so far."""
        return measured(self._asked, self._outcomes)

    @property
    def tree(self) -> str:
        """The files as they are now; empty before the first brief."""
        return self._room.tree if self._room else ""

    @property
    def presented(self) -> tuple[Presented, ...]:
        """What was shown to the person so far."""
        return tuple(self._room.presented) if self._room else ()

    @property
    def ordinal(self) -> int:
        """Of its last request to a model."""
        return self._voice.ordinal(self._asked)

    def propose(self, run: Run, brief: Brief) -> Offer:
        """What the work comes to. Raises `Exhausted` when the budget ends before the model does."""
        room = self._enter(run, brief)
        empty = 0
        while True:
            self._shorten(run, brief, room)
            self._listen(run, room)
            reply = self._ask(run, brief.pressed)
            if reply.calls:
                self._answer(room, reply)
                empty = 0
                continue
            if reply.finish == "refusal":
                return self._nothing(f"{self._voice.model} refused: {reply.content[:300] or 'it gave no reason'}")
            cut = reply.finish == "length"
            if not cut and reply.content.strip():
                if self._voice.role == "agent" and self._held < HOLDS and (why := stopped(room, reply.content)):
                    self._held += 1
                    self._messages.append(Message(role="user", content=f"Not yet. A hook of the user's says: {why}"))
                    continue
                return self._offer(run, brief, room, reply.content.strip())
            empty += 1
            if empty == EMPTY:
                return self._nothing(f"{self._voice.model} gave no answer, {EMPTY} times")
            self._messages.append(Message(role="user", content=CUT_OFF if cut else NOTHING))

    def _enter(self, run: Run, brief: Brief) -> Room:
        """The room for a brief: the first is new, later ones go on where the work was left."""
        if self._room is None:
            self._room = self._furnished(run, brief)
            remembered = index(self._room.memories, self._room.today)
            paths = run.paths(brief.base)
            said = run.read(brief.base, guide("", paths)) or b""
            indices = (self._skills, remembered)
            text = first_message(brief, run.root, paths, said.decode("utf-8", "replace"), indices)
        else:
            self._room.run = run
            text = self._judged = next_message(brief)
            if self._room.tree != brief.base:
                self._room.tree = brief.base
        self._messages.append(Message(role="user", content=text))
        return self._room

    def _furnished(self, run: Run, brief: Brief) -> Room:
        """A new room, with what surrounds the run in it."""
        room = self._room = Room(run=run, place=self._place, tree=brief.base)
        self._start = brief.base
        room.delegate = lambda room, parts: delegated(room, parts, self._hire)
        room.play = lambda room, path, arguments: play(room, self._toolbox, path, arguments)
        skills = found(lambda path: run.read(brief.base, path), run.paths(brief.base))
        room.skill, self._skills = (lambda name: loaded(skills, name)), catalogue(skills)
        self._toolbox = surrounded(room, self._toolbox)
        return room

    def _hire(self, n: int, many: int, after: int) -> ToolAuthor:
        """Another one for a part of the work: it asks no person, remembers nothing and hires nobody."""
        voice = self._voice.model_copy(update={"role": "subagent", "lane": (n, many), "after": after})
        return ToolAuthor(voice, self._place, Toolbox().without(*ALONE), self._window)

    def _listen(self, run: Run, room: Room) -> None:
        """Take in what the person has answered meanwhile."""
        for asked in room.asked:
            said = None if asked in self._answered else run.heard(asked, CallModel.name)
            if said is not None:
                self._answered.add(asked)
                self._messages.append(Message(role="user", content=f"# The person answers your question\n{said}"))
        room.asked = [asked for asked in room.asked if asked not in self._answered]

    def _ask(self, run: Run, pressed: bool) -> ModelReply:
        voice = self._voice
        self._asked += 1
        request = ModelRequest(
            role=voice.role,
            system=SYSTEM,
            messages=tuple(self._messages),
            tools=self._toolbox.specs,
            max_tokens=voice.max_tokens,
            timeout_seconds=voice.timeout_seconds,
            ordinal=self.ordinal,
        )
        model = voice.pressed if pressed and voice.pressed else voice.model
        reply = run.perform(CallModel(model=model, request=request))
        reply = reply.model_copy(update={"calls": tuple(self._named(c) for c in reply.calls)})
        if reply.content.strip() or reply.calls:
            self._messages.append(Message(role="assistant", content=reply.content, calls=reply.calls))
        return reply

    def _named(self, call: ToolCall) -> ToolCall:
        """The call under an id that no other has: each result is paired with its call by it."""
        self._ids[call.id] += 1
        again = self._ids[call.id]
        return call if call.id and again == 1 else call.model_copy(update={"id": f"{call.id or 'call'}-{again}"})

    def _answer(self, room: Room, reply: ModelReply) -> None:
        """Do the calls in order; each is answered, whatever comes of it."""
        for call in reply.calls:
            room.run.progress("call", {"tool": call.name, "arguments": call.arguments})
            observed = self._toolbox.call(room, call)
            self._outcomes.append((call.name, observed.outcome))
            if observed.outcome != "done":
                self._failed.append(failure(call, observed.text))
            text = observed.text + self._warned(call, observed)
            self._messages.append(Message(role="tool", content=text, call_id=call.id, tool=call.name))
            room.run.progress("observed", {"tool": call.name, "outcome": observed.outcome, "text": observed.text})

    def _warned(self, call: ToolCall, observed: Observation) -> str:
        """A warning, once, if the work goes round in circles. Raises `Exhausted` if it still does after that."""
        self._made.append(made(call.name, call.arguments, observed.outcome, observed.text))
        why = stuck(self._made, self._warned_at or 0)
        if not why:
            return ""
        if self._warned_at is not None:
            raise Exhausted(StopReason.NON_PROGRESS, f"{self.name} was told, and still {why}")
        self._warned_at = len(self._made)
        return f"\n[{why}. {OTHERWISE}]"

    def _shorten(self, run: Run, brief: Brief, room: Room) -> None:
        """Make the conversation fit the window; what goes is kept, and can be read by the model."""
        before = size(self._messages)
        if before <= self._window * FULL:
            return
        state = State(
            todo=room.todo,
            notes=tuple(room.notes),
            changed=run.changed(self._start, room.tree),
            failed=tuple(self._failed),
            judged=self._judged,
        )
        short = folded(self._messages, state, self._window)
        if short is None:
            return
        whole = json.dumps([m.model_dump(mode="json") for m in self._messages]).encode()
        run.perform(Fold(away=run.put(whole), before=before, after=size(short.messages)))
        room.dropped.update({outputs(call): text for call, text in short.dropped.items()})
        self._messages = list(short.messages)

    def _offer(self, run: Run, brief: Brief, room: Room, answer: str) -> Offer:
        if room.asked:
            run.note(f"{len(room.asked)} of the agent's questions were not answered; it went on without")
        patch = run.between(brief.base, room.tree)
        if patch.changes:
            return Offer(author=self.name, patch=patch, answer=answer, note=answer[:300])
        return self._nothing(f"{self.name} changed nothing: {answer[:300]}").model_copy(update={"answer": answer})

    def _nothing(self, why: str) -> Offer:
        finding = Finding(kind=FindingKind.UNAPPLIABLE, check="agent", id="agent", message=why)
        return Offer(author=self.name, findings=(finding,), note=why)
