"""A program of the user's that is not there is named with where it was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.adapters.surroundings import LocalSurroundings, Locations
from referee.domain.errors import UsageError
from referee.ports import Base, Command, Limits


def test_a_server_whose_program_is_missing_is_told_as_a_server(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "no-such-server"}}}')

    def command(argv: tuple[str, ...], base: Base, limits: Limits) -> Command:
        return Command(argv=argv, base=base, env={"PATH": "/usr/bin"}, limits=limits)

    root = str(tmp_path)
    around = LocalSurroundings(
        Locations(
            root=root,
            state=root,
            own=root,
            sandbox=lambda: pytest.fail("nothing starts"),
            command=command,
            paths=lambda: (".mcp.json",),
        )
    )
    with pytest.raises(UsageError, match=r"server notes in \.mcp\.json names no-such-server, which is not a program"):
        around.peer("notes", Base(tree="t", path=root, mount_at=root))
