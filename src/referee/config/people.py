"""When a person is asked, and what their signature must be."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from referee.domain.question import Demand
from referee.domain.value import Value


class Before(StrEnum):
    """What a landing waits for, from lax to strict."""

    NEVER = "never"
    APPROVAL = "approval"
    SIGNATURE = "signature"

    @property
    def rank(self) -> int:
        """A higher rank is stricter."""
        return list(Before).index(self)


class OutsideTools(Value):
    """Which tools that reach other systems exist here; each use of one is signed."""

    tools: tuple[Literal["http", "mail", "sql"], ...] = ("http", "mail", "sql")


def _file(text: str) -> str:
    if text and not text.startswith(("/", "~")):
        raise ValueError("give the whole path of the file, from / or ~")
    return text


class Signing(Value):
    """What counts as a signature: `any` key or only `ssh` keys, of how many people, for how many minutes.

    `allowed_signers` is the file that says whose SSH keys count (see ssh-keygen); empty for the one beside the user's
    own settings.
    """

    require: Literal["any", "ssh"] = "any"
    persons: int = Field(default=1, ge=1, le=9)
    minutes: float = Field(default=1440.0, gt=0, le=525_600)
    allowed_signers: Annotated[str, AfterValidator(_file)] = ""

    @property
    def demand(self) -> Demand:
        """The same for a question."""
        return Demand(ssh=self.require == "ssh", persons=self.persons)
