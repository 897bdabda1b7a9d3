"""The agent for an editor that speaks the Agent Client Protocol, on standard input and output (the extra `acp`)."""

from referee.acp.serve import serve

__all__ = ["serve"]
