"""`referee acp`."""

from __future__ import annotations

from referee.cli import options as o


def acp(repo: o.Repo = ".", model: o.Model = None) -> None:
    """Be the agent of an editor that speaks the Agent Client Protocol, on standard input and output.

    Each prompt is a run as `referee agent` plays it. See docs/page.md.

    Example: referee acp --repo /path/to/repository --model openai:gpt-5-mini
    """
    config = o.settings(repo, {"generator": "agent", "models.default": model})
    from referee.config import root_of
    from referee.domain.errors import UsageError

    try:
        from referee.acp import serve
    except ModuleNotFoundError as missing:
        if missing.name != "acp":
            raise
        raise UsageError("an editor's agent needs the extra acp; install referee[acp]") from missing
    serve(root_of(repo), config)
