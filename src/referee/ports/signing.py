"""Whether an answer really comes from the person it names."""

from __future__ import annotations

from typing import Protocol

from referee.domain.question import Answer, Question


class Signatures(Protocol):
    """Knows the keys that count here."""

    def objection(self, question: Question, answer: Answer) -> str:
        """Why the signed `answer` does not count for `question`, in words; empty if it does.

        Raises `WorldFault` if that cannot be found out, for example because a program is missing.
        """
        ...
