"""How far a tool can reach, from harmless to what needs a person (I1)."""

from __future__ import annotations

from enum import StrEnum


class Risk(StrEnum):
    """The class of a tool, and so what it takes: a tool that has none is not registered, and so does not exist."""

    READ = "read"
    SCRATCH = "scratch"  # changes only the run's own copy
    HOST = "host"  # changes what is the user's, with a snapshot to go back to
    EGRESS = "egress"  # reaches a listed domain
    IRREVERSIBLE = "irreversible"  # needs a signature

    @property
    def rank(self) -> int:
        """A higher rank reaches further."""
        return list(Risk).index(self)
