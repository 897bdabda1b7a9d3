"""The keys that count on this machine."""

from __future__ import annotations

import os

from referee.adapters.signing.local import LocalKey
from referee.adapters.signing.ssh import SshKeys
from referee.domain.errors import UsageError
from referee.domain.question import YES, Answer, Question, iso

KEY, ALLOWED = "signing.key", "allowed_signers"


class Keyring:
    """The local key in the user's configuration folder, and the SSH keys that `allowed` lists."""

    def __init__(self, folder: str, allowed: str = "") -> None:
        self._local = LocalKey(os.path.join(folder, KEY))
        self._ssh = SshKeys(os.path.expanduser(allowed) or os.path.join(folder, ALLOWED))

    def sign(self, question: Question, now: float, ssh_key: str = "") -> Answer:
        """A signed yes. Raises `UsageError` if the key cannot sign or does not count here."""
        if question.demand.only_ssh and not ssh_key:
            people = f" of {question.demand.persons} different people" if question.demand.persons > 1 else ""
            raise UsageError(f"{question.id} takes an SSH key{people}; type: referee sign {question.id} --ssh-key FILE")
        answer = Answer(
            question=question.id,
            digest=question.digest,
            text=YES,
            by="",
            at=iso(now),
            how="ssh" if ssh_key else "local",
        )
        by, made = (
            self._ssh.sign(answer.message, os.path.expanduser(ssh_key)) if ssh_key else self._local.sign(answer.message)
        )
        return answer.model_copy(update={"by": by, "signature": made})

    def objection(self, question: Question, answer: Answer) -> str:
        """Why the signed answer does not count; empty if it does."""
        if answer.how == "ssh":
            return self._ssh.objection(answer.message, answer.signature, answer.by)
        if question.demand.only_ssh:
            return "it takes an SSH key"
        return self._local.objection(answer.message, answer.signature, answer.by)
