"""Questions to a person: asked once, answered whenever, and looked at again each time an action is about to happen."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from referee.domain.canonical import digest_of
from referee.domain.errors import Rejected, Suspended
from referee.domain.finding import Finding, FindingKind
from referee.domain.question import NO, Answer, Asking, Consent, Question, iso, settled
from referee.kernel.journal import Journal
from referee.kernel.policy import STRICTER, Ask
from referee.ports import Entry, Kind, Signatures, Store

ANSWER = "answer"  # the topic of the messages that bring answers


class Questions:
    """The questions of one run. `now` in seconds since the epoch; `tell` is told of answers that do not count."""

    def __init__(self, run_id: str, store: Store, journal: Journal, signatures: Signatures) -> None:
        self._run_id, self._store, self._journal, self._signatures = run_id, store, journal, signatures

    def answered(self, key: str) -> bool:
        """Whether a question about the action under `key` has been settled: from then on it may have begun."""
        return any(self._journal.found(e.key, Kind.ANSWERED) for e in self._asked(key))

    def settle(self, key: str, ask: Ask, action: tuple[str, str], tell: Callable[[str], None]) -> Consent:
        """The person's consent to the `action` (its name and digest) under `key`.

        Raises `Suspended` until there is an answer, after writing the question down; `Rejected` if the answer is no.
        What has expired, or does not meet what is demanded now, is asked again.
        """
        now = self._journal.now()
        earlier = self._asked(key)
        entry = earlier[-1] if earlier else None
        question = None if entry is None else self._question(entry)
        if entry is None or question is None or question.expired(now) or not _asks(question, ask, action[1]):
            raise Suspended(self._ask(f"{key}?{len(earlier) + 1}", ask, action, now))
        consent = Consent(question=question, answers=self._genuine(entry.key, question, tell))
        verdict = settled(question, consent.answers)
        if verdict is None:
            raise Suspended(question)
        said = [a.model_dump(mode="json") for a in consent.answers]
        self._journal.note(entry.key, Kind.ANSWERED, {"question": question.id, "answers": said})
        if not verdict:
            raise Rejected((_refusal(question, consent.answers[-1]),))
        return consent

    def post(self, key: str, ask: Ask, action: tuple[str, str]) -> Question:
        """Write the question down, once, and do not wait; `heard` has its answer under `key` with `?1` behind it."""
        entry = self._journal.found(f"{key}?1", Kind.ASKED)
        return self._ask(f"{key}?1", ask, action, self._journal.now()) if entry is None else read_question(entry)

    def heard(self, key: str, here: str, fresh: bool, tell: Callable[[str], None]) -> str | None:
        """The answer to what was posted under `key`, at the one place `here` where it came in; else None.

        Where it came in is recorded with it. Only a `fresh` place looks for what people have left.
        """
        entry = self._journal.found(key, Kind.ASKED)
        question = None if entry is None else self._question(entry)
        if question is None:
            return None
        genuine = self._genuine(key, question, tell)
        used = self._journal.found(key, Kind.ANSWERED)
        if used is not None:
            return genuine[-1].text if genuine and json.loads(used.payload).get("at") == here else None
        if not fresh or not settled(question, genuine):
            return None
        said = [a.model_dump(mode="json") for a in genuine]
        self._journal.note(key, Kind.ANSWERED, {"question": question.id, "answers": said, "at": here})
        return self._genuine(key, question, tell)[-1].text  # as it is recorded: what is hidden there is hidden at once

    def _asked(self, key: str) -> list[Entry]:
        entries: list[Entry] = []
        while (entry := self._journal.found(f"{key}?{len(entries) + 1}", Kind.ASKED)) is not None:
            entries.append(entry)
        return entries

    def _question(self, entry: Entry) -> Question | None:
        """The question as it was recorded; None if it is not whole any more, so that it is asked again."""
        question = read_question(entry)
        return question if question.digest == question.true_digest else None

    def _ask(self, key: str, ask: Ask, action: tuple[str, str], now: float) -> Question:
        name, digest = action
        asked_at = datetime.fromisoformat(iso(now))
        # Before it is sealed: what is recorded must be what the digest is of.
        said = self._store.redaction.value([ask.summary, ask.requester, list(ask.options)])
        question = Question(
            id=f"q-{digest_of([self._run_id, key])[:10]}",
            run_id=self._run_id,
            shown=self._store.put(ask.shown.encode("utf-8", "surrogateescape")),
            action=name,
            action_digest=digest,
            asked_at=iso(now),
            expires_at=iso(asked_at.timestamp() + ask.seconds),
            summary=said[0],
            requester=said[1],
            options=tuple(said[2]),
            **{n: getattr(ask, n) for n in ("kind", "tree", "demand")},
        ).sealed()
        self._journal.note(key, Kind.ASKED, {"question": question.model_dump(mode="json")})
        return question

    def _genuine(self, key: str, question: Question, tell: Callable[[str], None]) -> tuple[Answer, ...]:
        """The answers that count: those used already, else those that were left for the run; each looked at again."""
        used = self._journal.found(key, Kind.ANSWERED)
        if used is not None:
            found = [Answer.model_validate(a) for a in json.loads(used.payload)["answers"]]
        else:
            found = answers(self._store, question)
        genuine = []
        for answer in found:
            objection = objection_to(question, answer, self._signatures)
            if objection:
                tell(f"an answer to {question.id} does not count: {objection}")
            else:
                genuine.append(answer)
        return tuple(genuine)


def _asks(question: Question, ask: Ask, digest: str) -> bool:
    """Whether a question of earlier is about this very action, and no less than what is to be asked now."""
    enough = STRICTER.index(question.kind) >= STRICTER.index(ask.kind) and question.demand == ask.demand
    return enough and question.action_digest == digest


def read_question(entry: Entry) -> Question:
    """The question that an entry of the kind ASKED records."""
    return Question.model_validate(json.loads(entry.payload)["question"])


def answers(store: Store, question: Question) -> list[Answer]:
    """What people have said to a question, as they left it; nothing of it is verified but its form."""
    found = []
    for signal in store.left(question.run_id, ANSWER):
        if signal.name.partition("/")[0] != question.id:
            continue
        try:
            found.append(Answer.model_validate_json(signal.payload))
        except ValidationError:
            found.append(Answer(question=question.id, digest="", text="", by="nobody", at=signal.at))
    return found


def objection_to(question: Question, answer: Answer, signatures: Signatures) -> str:
    """Why an answer does not count for this question; empty if it does."""
    if (answer.question, answer.digest) != (question.id, question.digest):
        return "it was given to something else"
    if answer.how != "said":
        return signatures.objection(question, answer)
    unsigned = question.kind is Asking.SIGNATURE and answer.text != NO
    return "it is not signed" if unsigned else ""


def _refusal(question: Question, answer: Answer) -> Finding:
    return Finding(
        kind=FindingKind.UNAUTHORISED, check="person", id=question.id, rule="no",
        message=f"{answer.by} said no to: {question.summary}; do not ask for the same again",
    )  # fmt: skip


def facts_of(ask: Ask | None) -> dict[str, Any]:
    """What the request of an action says about it: whether it waits for a person before it begins."""
    return {} if ask is None else {"asks": ask.kind.value}
