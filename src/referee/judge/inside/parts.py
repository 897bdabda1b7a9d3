"""Asking objects that are not ours, which may mind it."""

from __future__ import annotations

from typing import Any


def part(owner: Any, name: str) -> Any:
    """An attribute; None if there is none, or if asking for it raises anything whatever."""
    try:
        return getattr(owner, name, None)
    except Exception:
        return None
