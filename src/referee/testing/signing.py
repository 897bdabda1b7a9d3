"""Signatures that a test can make and break."""

from __future__ import annotations

from referee.domain.question import YES, Answer, Question, iso


class FakeSignatures:
    """A signature is the signed message itself, backwards."""

    def sign(self, question: Question, now: float, ssh_key: str = "") -> Answer:
        """A signed yes by the owner of the key, which is its name."""
        by = ssh_key or "the local key"
        answer = Answer(
            question=question.id,
            digest=question.digest,
            text=YES,
            by=by,
            at=iso(now),
            how="ssh" if ssh_key else "local",
        )
        return answer.model_copy(update={"signature": _made(answer)})

    def objection(self, question: Question, answer: Answer) -> str:
        """Whether it is not what `sign` makes of it."""
        if question.demand.only_ssh and answer.how != "ssh":
            return "it takes an SSH key"
        return "" if answer.signature == _made(answer) else "it is not a signature over this question"


def _made(answer: Answer) -> str:
    return f"{answer.by} {answer.message.decode()[::-1]}"
