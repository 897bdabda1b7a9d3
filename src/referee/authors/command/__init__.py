"""Any coding agent as an author: it works in the sandbox, and what it changed is its proposal (E4)."""

from referee.authors.command.author import CommandAuthor
from referee.authors.command.presets import Agent, agent

__all__ = ["Agent", "CommandAuthor", "agent"]
