"""`referee mcp` as a client sees it, over standard input and output."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.extension import advertise
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult

from conftest import BUGGY
from referee.config import load
from referee.mcp.serve import _inside, bounded, server
from referee.render.app import APP, VIEW

MAIN = "import sys; from referee.cli import main; sys.exit(main())"


def client(repo: Path, **more: Any) -> Client:
    """A client that starts the command as people's clients do."""
    env = {**os.environ, "XDG_CONFIG_HOME": str(repo.parent / "own")}
    parameters = StdioServerParameters(command=sys.executable, args=["-c", MAIN, "mcp", "--repo", str(repo)], env=env)
    return Client(stdio_client(parameters), **more)


def test_tools_say_what_they_may_do_and_a_repair_is_told_shown_and_undone(repo: Path) -> None:
    asked: list[str] = []
    told: list[str] = []

    async def agree(context: Any, parameters: Any) -> ElicitResult:
        asked.append(parameters.message)
        return ElicitResult(action="accept", content={"agree": len(asked) > 1})

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def play() -> None:
        async with client(repo, elicitation_callback=agree) as it:
            tools = {t.name: t for t in (await it.list_tools()).tools}
            assert set(tools) == {"check", "sandbox", "runs", "show", "fix", "rollback"}
            reads = {n for n, t in tools.items() if t.annotations and t.annotations.read_only_hint}
            assert reads == {"check", "sandbox", "runs", "show"}
            assert all("Not for" in (t.description or "") or "Not " in (t.description or "") for t in tools.values())

            failing = await it.call_tool("check", {})
            assert failing.structured_content and failing.structured_content["passed"] is False

            fixed = await it.call_tool("fix", {"targets": ["tests/test_calc.py::test_add"]}, progress_callback=hear)
            data = fixed.structured_content
            assert not fixed.is_error and data and data["solved"], fixed
            assert data["touched_files"] == ["calc.py"] and "a + b" in data["diff"]
            assert "a + b" in (repo / "calc.py").read_text() and any("step 1" in words for words in told)

            shown = await it.call_tool("show", {"run": data["run_id"]})
            assert shown.structured_content == data

            declined = await it.call_tool("rollback", {"run": data["run_id"]})
            assert declined.structured_content and declined.structured_content["outcome"] == "declined"
            assert "a + b" in (repo / "calc.py").read_text()
            undone = await it.call_tool("rollback", {"run": data["run_id"]})
            assert undone.structured_content and undone.structured_content["restored"] == ["calc.py"]
            assert (repo / "calc.py").read_text() == BUGGY and "calc.py" in asked[0]

            ran = await it.call_tool("sandbox", {"argv": ["sh", "-c", "echo hi; echo x > calc.py; exit 3"]})
            assert ran.structured_content and ran.structured_content["exit_code"] == 3
            assert ran.structured_content["stdout"] == "hi\n" and (repo / "calc.py").read_text() == BUGGY

            wrong = await it.call_tool("show", {"run": "nothing"})
            assert wrong.is_error and "there is no run nothing" in str(wrong.content)

    anyio.run(play)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_without_a_way_to_ask_a_person_nothing_is_undone(repo: Path, mode: str) -> None:
    async def play() -> None:
        async with Client(server(str(repo)), mode=mode) as it:
            refused = await it.call_tool("rollback", {"run": "some-run"})
            assert refused.is_error and "referee rollback some-run" in str(refused.content)

    anyio.run(play)


def test_a_client_gets_less_than_the_settings_allow_and_never_more(repo: Path) -> None:
    config = load(str(repo), flags={"budget.max_steps": 3, "budget.timeout": 60.0, "land": "none"})
    more = bounded(config, 100, 1e6, "tree")
    assert (more.budget.max_steps, more.budget.timeout, more.land) == (3, 60.0, "none")
    less = bounded(config, 1, 5.0, "tree")
    assert (less.budget.max_steps, less.budget.timeout) == (1, 5.0)
    assert bounded(load(str(repo)), None, None, "tree").land == "tree"
    for place, lands in {"commit": "commit", "branch:x": "none", "pr": "none", "patch:/tmp/p": "none"}.items():
        assert bounded(load(str(repo), flags={"land": place}), None, None, "tree").land == lands


def test_a_command_for_a_client_reaches_no_host_that_the_settings_list(repo: Path) -> None:
    """Clients let a tool that only reads run unasked, so it must not hold the person's credentials."""
    listed = load(str(repo), flags={"sandbox.allow_domains": ["api.example.org"]})
    assert listed.sandbox.destinations
    assert _inside(listed).sandbox.destinations == ()


def test_a_client_that_shows_views_gets_one_and_others_get_words(repo: Path) -> None:
    async def play(**more: Any) -> tuple[Any, Any, Any]:
        async with Client(server(str(repo)), **more) as it:
            tools = {t.name: t for t in (await it.list_tools()).tools}
            page = (await it.read_resource(APP)).contents[0]
            return tools["check"].meta, page, await it.call_tool("check", {})

    able = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
    meta, page, result = anyio.run(functools.partial(play, extensions=[able]))
    assert meta == {"ui": {"resourceUri": APP}} and page.mime_type == "text/html;profile=mcp-app"
    assert page.text.startswith("<!doctype html>") and "src=" not in page.text and "url(" not in page.text
    assert "Findings" in result.meta[VIEW] and "test_add" in result.meta[VIEW]
    assert result.structured_content["passed"] is False and result.content[0].text.startswith("failed")
    _, _, plain = anyio.run(play)
    assert VIEW not in (plain.meta or {}) and plain.structured_content == result.structured_content
