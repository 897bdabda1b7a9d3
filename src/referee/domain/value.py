"""The base of every value: frozen, closed, and the same after a trip through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PlainSerializer


class Value(BaseModel):
    """Frozen data with no extra keys; bytes travel through JSON as base64."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ser_json_bytes="base64",
        val_json_bytes="base64",
        allow_inf_nan=False,
        defer_build=True,
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; nothing that was worked out from the old ones comes along."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).__pydantic_fields__.keys():
            del copied.__dict__[name]
        return copied


def _written_out(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# A file's name as it is; in JSON, bytes that are no UTF-8 are written out, since JSON has no word for them.
Name = Annotated[str, PlainSerializer(_written_out, when_used="json")]
