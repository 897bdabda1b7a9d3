"""Hooks: where they are written, and running one."""

from referee.adapters.hooks.places import places, read
from referee.adapters.hooks.run import as_person, in_sandbox

__all__ = ["as_person", "in_sandbox", "places", "read"]
