"""How servers of tools are read and named."""

from __future__ import annotations

from typing import Any

import pytest

from referee.domain.peers import Definition, objection, servers


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "x", "url": "https://e.org"}, "either"), ({}, "either"), ({"command": "x", "cwd": "/"}, "cwd"),
        ({"command": "x", "env": {"A": "${HOME}"}}, "variables"),
        ({"url": "https://e.org", "headers": {"a": "b"}}, "headers"),
        ({"url": "file:///etc/passwd"}, "http"), ({"command": 7}, "command"), (7, "object"),
    ],
)  # fmt: skip
def test_what_a_repository_may_not_ask_for_is_left_out_and_said(entry: Any, words: str) -> None:
    found, notes = servers({"mcpServers": {"x": entry, "ok": {"command": "y", "args": ["-v"]}}})
    assert [s.name for s in found] == ["ok"] and len(notes) == 1 and words in notes[0]


def test_no_name_can_pass_for_another_server_s_tool() -> None:
    assert servers({"mcpServers": {"a__b": {"command": "x"}, "a b": {"command": "x"}}})[0] == ()
    assert Definition(server="a", name="x; rm -rf").tool == "mcp__a__x__rm_-rf"
    twice = [Definition(server="a", name="x.y"), Definition(server="a", name="x_y")]
    assert "two of its tools" in objection(twice) and objection(twice[:1]) == ""
    assert "65 tools" in objection([Definition(server="a", name=f"t{n}") for n in range(65)])
