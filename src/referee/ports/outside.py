"""Tools that reach other systems. One that is not registered does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from referee.domain.outside import Described, Receipt


class OutsideTool(Protocol):
    """One kind of request to another system. Nothing of it holds a secret: that is looked up by name when it is sent.

    All raise `UsageError`, with what to write instead, for arguments that are not in the tool's form.
    """

    def describe(self, arguments: Mapping[str, Any]) -> Described:
        """The request in words, without reaching anything."""
        ...

    def call(self, arguments: Mapping[str, Any], key: str, seconds: float, *, signed: bool) -> Receipt:
        """Do it, in at most `seconds`, with `key` as the idempotency key. What fails is a receipt, no exception.

        What nobody `signed` reaches the public internet only, whatever a listed name leads to now.
        """
        ...

    def look(self, arguments: Mapping[str, Any], key: str) -> Receipt | None:
        """What became of a call that was cut off; None only if it certainly had no effect and never will."""
        ...
