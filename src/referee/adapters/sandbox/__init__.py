"""Sandboxes: where commands run isolated from the host (B1-B6)."""

from __future__ import annotations

from referee.adapters.sandbox.requests import sandbox_owner
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.ports import Sandbox


def open_sandbox(*, allow_degraded: bool, cache_dir: str) -> Sandbox:
    """The best sandbox this machine offers."""
    return UsernsSandbox()


__all__ = ["open_sandbox", "sandbox_owner"]
