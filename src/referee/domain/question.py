"""What a run asks a person, what the person says to it, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from referee.domain.canonical import canonical, digest_of
from referee.domain.value import Value

YES, NO = "yes", "no"
Status = Literal["open", "answered", "expired"]


class Asking(StrEnum):
    """What an answer has to be: anything in words, yes or no, or a yes that is signed."""

    QUESTION = "question"
    APPROVAL = "approval"
    SIGNATURE = "signature"


class Demand(Value):
    """What counts as a signature: with an SSH key only, or also with the local key; from how many people.

    A local key does not tell people apart, so several people need SSH keys.
    """

    ssh: bool = False
    persons: int = 1

    @property
    def only_ssh(self) -> bool:
        """Whether a local key is not enough."""
        return self.ssh or self.persons > 1


class Question(Value):
    """A question as it is recorded. `digest` is over everything else, and it is what a person signs.

    `action_digest` names exactly what is done after a yes, `shown` the text (by its SHA-256) that says so to a
    person, `tree` the files it was asked about, `requester` who wants it. Times are ISO 8601 in UTC.
    """

    id: str
    run_id: str
    kind: Asking
    summary: str
    shown: str
    action: str
    action_digest: str
    requester: str = ""
    tree: str = ""
    options: tuple[str, ...] = ()
    demand: Demand = Demand()
    asked_at: str
    expires_at: str
    digest: str = ""

    @property
    def true_digest(self) -> str:
        """The digest that this question must carry."""
        return digest_of(self.model_dump(mode="json", exclude={"digest"}))

    def sealed(self) -> Question:
        """The same with its digest."""
        return self.model_copy(update={"digest": self.true_digest})

    def expired(self, now: float) -> bool:
        """Whether an answer comes too late at `now`, in seconds since the epoch. What is only asked for stays open."""
        return self.kind is not Asking.QUESTION and now > datetime.fromisoformat(self.expires_at).timestamp()


class Answer(Value):
    """What one person said. `how` is by which key it is signed, if it is; `by` who said it, as the key proves it."""

    question: str
    digest: str
    text: str
    by: str
    at: str
    how: Literal["said", "local", "ssh"] = "said"
    signature: str = ""

    @property
    def message(self) -> bytes:
        """The bytes that a signature is over."""
        fields = {"question": self.question, "digest": self.digest, "answer": self.text}
        return canonical({"referee": "signature/1", **fields}) + b"\n"


class Consent(Value):
    """A question and the answers that settled it."""

    question: Question
    answers: tuple[Answer, ...]

    @property
    def text(self) -> str:
        """What the last of them said."""
        return self.answers[-1].text


class Waiting(Value):
    """A question as a person sees it in a list."""

    id: str
    run_id: str
    kind: Asking
    summary: str
    digest: str
    expires_at: str
    status: Status


class Asked(Waiting):
    """A question in full. `shown` is the text that a signature covers; `answers` are those that count so far."""

    shown: str
    action: str
    requester: str = ""
    tree: str = ""
    options: tuple[str, ...] = ()
    demand: Demand = Demand()
    asked_at: str = ""
    answers: tuple[Answer, ...] = ()


class Given(Value):
    """What became of a question after an answer: still `open` if it takes more people.

    `queued`, which its JSON leaves out: a worker goes on with the run.
    """

    id: str
    status: Status
    queued: bool = Field(default=False, exclude=True)


def settled(question: Question, answers: Sequence[Answer]) -> bool | None:
    """Whether the answers, all of them genuine, say yes or no; None if that takes more of them.

    One no is enough. A signature takes as many different people as the question demands.
    """
    if question.kind is Asking.QUESTION:
        return True if answers else None
    if any(a.text == NO for a in answers):
        return False
    yes = [a for a in answers if a.text == YES]
    if question.kind is Asking.APPROVAL:
        return True if yes else None
    return True if len({a.by for a in yes if a.how != "said"}) >= question.demand.persons else None


def status(question: Question, answers: Sequence[Answer], now: float) -> Status:
    """Where a question stands at `now`, in seconds since the epoch; the answers are all genuine."""
    if settled(question, answers) is not None:
        return "answered"
    return "expired" if question.expired(now) else "open"


def waiting(question: Question, status: Status) -> Waiting:
    """The question for a list."""
    names = ("id", "run_id", "kind", "summary", "digest", "expires_at")
    return Waiting(**{name: getattr(question, name) for name in names}, status=status)


def iso(seconds: float) -> str:
    """A time of day as records have it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
