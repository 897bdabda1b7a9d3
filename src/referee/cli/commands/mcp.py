"""`referee mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Callable


def mcp(repo: o.Repo = ".") -> None:
    """Serve this repository to an MCP client on standard input and output, until that ends.

    Tools: check, sandbox, runs, show, fix, rollback. See docs/mcp.md for how clients start it.

    Example: referee mcp --repo /path/to/repository
    """
    o.settings(repo, {})
    from referee.config import root_of

    _server()(root_of(repo))


def _server() -> Callable[[str], None]:
    from referee.domain.errors import UsageError

    try:
        from referee.mcp import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("mcp", "mcp_types", "anyio"):
            raise
        raise UsageError("the MCP server needs the extra mcp; install referee[mcp]") from missing
    return serve
