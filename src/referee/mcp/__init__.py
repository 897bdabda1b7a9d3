"""This harness as an MCP server on standard input and output (the extra `mcp`)."""

from referee.mcp.serve import serve

__all__ = ["serve"]
