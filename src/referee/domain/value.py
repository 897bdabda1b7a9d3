"""The base of every value: frozen, closed, and the same after a trip through JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Frozen data with no extra keys; bytes travel through JSON as base64."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        ser_json_bytes="base64",
        val_json_bytes="base64",
        allow_inf_nan=False,
    )
