"""Servers of tools (MCP) as a client sees them (the extra `mcp`)."""

from referee.adapters.mcp.places import PLACE, read

__all__ = ["PLACE", "read"]
