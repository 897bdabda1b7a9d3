"""What waits for a person, and what the person says to it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from itertools import groupby

from referee.adapters.signing import account
from referee.api.engine import go_on
from referee.config import load
from referee.domain.errors import UsageError, WorldFault
from referee.domain.question import NO, YES, Answer, Asked, Asking, Given, Question, Waiting, iso, status
from referee.domain.question import waiting as listed
from referee.domain.value import Value
from referee.kernel.journal import check_chain
from referee.kernel.questions import ANSWER, answers, objection_to, read_question
from referee.ports import Entry, Kind, Signal
from referee.wiring import Desk


class _Known(Value):
    """A question with the answers to it that count. `live`: its run would still take one."""

    question: Question
    answers: tuple[Answer, ...]
    live: bool


def waiting(repo: str = ".") -> tuple[Waiting, ...]:
    """All questions of the repository's runs: those that wait first, and of each kind the newest first."""
    with Desk(repo, load(repo)) as desk:
        found = [_listed(desk, k) for k in reversed(_known(desk))]
        return tuple(sorted(found, key=lambda w: w.status != "open"))


def show(question_id: str, repo: str = ".") -> Asked:
    """One question in full. Raises `UsageError` if it is unknown or not as it was asked."""
    with Desk(repo, load(repo)) as desk:
        known = _find(desk, question_id)
        asked, question = _listed(desk, known), known.question
        names = ("action", "requester", "tree", "options", "demand", "asked_at")
        more = {name: getattr(question, name) for name in names}
        return Asked(**dict(asked), **more, shown=_shown(desk, question), answers=known.answers)


def answer(question_id: str, text: str, repo: str = ".") -> Given:
    """Say yes, no, or what was asked for. Raises `UsageError` if that is not possible (any more)."""
    with Desk(repo, load(repo)) as desk:

        def said(question: Question) -> Answer:
            now = iso(desk.clock.now())
            words = _words(question, text)
            return Answer(question=question.id, digest=question.digest, text=words, by=account(), at=now)

        return _give(desk, question_id, "", said)


def sign(question_id: str, repo: str = ".", *, ssh_key: str = "", digest: str = "") -> Given:
    """Sign a yes, with the SSH key in the file `ssh_key` or else with the local key.

    With `digest` (or its beginning) only the question that has it. Raises `UsageError` if it is expired, used, or not
    as it was asked, or if the key does not count.
    """
    with Desk(repo, load(repo)) as desk:

        def signed(question: Question) -> Answer:
            if question.kind is Asking.QUESTION:
                raise UsageError(f"{question.id} asks for words; type: referee answer {question.id} TEXT")
            return desk.signatures.sign(question, desk.clock.now(), ssh_key)

        return _give(desk, question_id, digest, signed)


def _give(desk: Desk, question_id: str, digest: str, make: Callable[[Question], Answer]) -> Given:
    known = _find(desk, question_id)
    question = known.question
    if not question.digest.startswith(digest):
        raise UsageError(f"{question.id} has another digest now; look again with `referee questions {question.id}`")
    _shown(desk, question)
    _unchanged(desk, question)
    stands = _listed(desk, known).status
    if stands != "open":
        again = "it is answered already" if stands == "answered" else "it has expired; the run asks again on resume"
        raise UsageError(f"{question.id} takes no answer: {again} (`referee resume {question.run_id}`)")
    answer = make(question)
    if any(a.by == answer.by and a.text == answer.text for a in known.answers):
        raise UsageError(f"{question.id} is signed by {answer.by} already; it takes another person")
    taken = len(answers(desk.store, question))
    signal = Signal(name=f"{question.id}/{taken + 1}", payload=answer.model_dump_json(), at=answer.at)
    if not desk.store.leave(question.run_id, ANSWER, signal):
        raise UsageError(f"somebody else answered {question.id} at the same moment; look again")
    given = Given(id=question.id, status=status(question, (*known.answers, answer), desk.clock.now()))
    return given.model_copy(update={"queued": given.status == "answered" and go_on(desk, question.run_id)})


def _words(question: Question, text: str) -> str:
    if question.kind is Asking.QUESTION:
        number = int(text) if text.isascii() and text.isdigit() else 0
        chosen = question.options[number - 1] if 1 <= number <= len(question.options) else text
        if not chosen.strip():
            raise UsageError(f"the answer is empty; type: referee answer {question.id} TEXT")
        return chosen
    if text.lower() not in (YES, NO):
        raise UsageError(f"{question.id} takes yes or no; type: referee answer {question.id} yes|no")
    if question.kind is Asking.SIGNATURE and text.lower() == YES:
        raise UsageError(f"a yes to {question.id} must be signed; type: referee sign {question.id}")
    return text.lower()


def _known(desk: Desk) -> list[_Known]:
    """All questions, oldest run first. Of those about one action only the last is live, and none of an ended run."""
    done = {r.run_id for r in desk.store.runs() if r.status == "done"}
    found: list[_Known] = []
    for run_id, group in groupby(desk.store.questions(), key=lambda pair: pair[0]):
        entries = [entry for _, entry in group]
        used = {e.key: e for e in entries if e.kind is Kind.ANSWERED}
        last = {e.key.rpartition("?")[0]: e.key for e in entries if e.kind is Kind.ASKED}
        for entry in entries:
            if entry.kind is Kind.ASKED:
                live = run_id not in done and last[entry.key.rpartition("?")[0]] == entry.key
                found.append(_Known(question=read_question(entry), answers=_said(desk, entry, used), live=live))
    return found


def _said(desk: Desk, asked: Entry, used: dict[str, Entry]) -> tuple[Answer, ...]:
    if asked.key in used:
        return tuple(Answer.model_validate(a) for a in json.loads(used[asked.key].payload)["answers"])
    question = read_question(asked)
    return tuple(a for a in answers(desk.store, question) if not objection_to(question, a, desk.signatures))


def _listed(desk: Desk, known: _Known) -> Waiting:
    stands = status(known.question, known.answers, desk.clock.now())
    return listed(known.question, "expired" if stands == "open" and not known.live else stands)


def _find(desk: Desk, question_id: str) -> _Known:
    known = {k.question.id: k for k in _known(desk)}
    if question_id not in known:
        near = difflib.get_close_matches(question_id, list(known), n=1)
        hint = f"did you mean {near[0]}?" if near else "see `referee questions`"
        raise UsageError(f"there is no question {question_id} here; {hint}")
    return known[question_id]


def _shown(desk: Desk, question: Question) -> str:
    """The text that the digest covers. Raises `UsageError` if it or the question is not what was recorded."""
    if question.digest != question.true_digest:
        raise UsageError(f"{question.id} was changed after it was asked: its digest no longer matches")
    try:
        return desk.store.get(question.shown).decode("utf-8", "surrogateescape")
    except WorldFault as damaged:
        raise UsageError(f"what {question.id} shows no longer matches its digest: {damaged}") from damaged


def _unchanged(desk: Desk, question: Question) -> None:
    record = desk.store.run(question.run_id)
    bad = check_chain(desk.store.entries(question.run_id), record.head if record else "")
    if bad is not None:
        raise UsageError(
            f"the journal of run {question.run_id} was changed at entry {bad}, so nothing in it can be answered; "
            f"see `referee journal verify {question.run_id}`"
        )
