"""A model: anything with a name, a price and a call. This one gives the answer that is in a file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from referee.domain.errors import UsageError
from referee.ports import ModelReply, ModelRequest, Price, Usage


class Canned:
    """`--model canned:FILE`. What comes after the colon is for the plugin to read."""

    def __init__(self, name: str) -> None:
        self._name, self._file = name, Path(name.partition(":")[2])

    @property
    def name(self) -> str:
        return self._name

    def price(self) -> Price | None:
        """None where it is unknown: then referee asks the user, because unknown is not free."""
        free = Decimal(0)
        return Price(input=free, output=free, cache_read=free, cache_write=free, source=self._name)

    def call(self, request: ModelRequest) -> ModelReply:
        """Raise `UsageError` for what the user must mend, `WorldFault` for what is the provider's fault."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except OSError as wrong:
            raise UsageError(f"--model {self._name}: {wrong.strerror}") from wrong
        return ModelReply(content=text, usage=Usage(), model=self._name)
