"""Layers of checks, cheap to dear (D1)."""

from __future__ import annotations

from enum import StrEnum


class Layer(StrEnum):
    """A layer of checks; the loop runs L0-L3, the gate L4 and L5."""

    FORMAT = "L0"
    TYPES = "L1"
    COMPILE = "L2"
    TARGET = "L3"
    AFFECTED = "L4"
    SUITE = "L5"

    @property
    def gate(self) -> bool:
        """Whether the layer belongs to the gate rather than the loop."""
        return self in (Layer.AFFECTED, Layer.SUITE)
