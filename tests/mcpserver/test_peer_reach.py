"""What a server may reach before a person has approved how it is started, and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from referee.adapters.hooks.run import as_person
from referee.adapters.mcp import open as opening
from referee.adapters.sandbox.egress import RealNetwork
from referee.adapters.surroundings import LocalSurroundings, Locations
from referee.api.trust import _introduced
from referee.domain.destination import Destination, Injection
from referee.domain.errors import UsageError, WorldFault
from referee.domain.hooks import Answer, Hook, Moment, Trusted
from referee.domain.peers import Server
from referee.ports import Base, Command
from referee.testing import FakeSandbox, ended
from referee.wiring import Desk

LISTED = (Destination(host="api.example.org", injection=Injection(header="Authorization", variable="TOKEN")),)
COMMAND = {"command": "python", "args": ["tools/server.py"]}
ADDRESS = {"url": "https://api.example.org/mcp"}


class Opened:
    """Surroundings whose servers are not started: what they would be given is kept."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any]) -> None:
        self.root, self.given = tmp_path / "repo", list[Any]()
        (self.root / "tools").mkdir(parents=True)
        (self.root / "tools" / "server.py").write_text("1")
        (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"t": entry}}))
        self.base = Base(tree="t", path=str(self.root), mount_at=str(self.root))
        self.own = tmp_path / "own"
        self.server = Server.model_validate({**entry, "name": "t"})

        def in_sandbox(server: Server, sandbox: object, command: Command) -> Peer:
            self.given.append(command.egress)
            return Peer()

        def transport(url: str, headers: dict[str, str], address: str) -> None:
            assert address == "93.184.216.34"
            self.given.append(headers)

        monkeypatch.setattr(RealNetwork, "resolve", lambda self, host, port: ("93.184.216.34",))
        monkeypatch.setattr(opening, "in_sandbox", in_sandbox)
        monkeypatch.setattr(opening, "_transport", transport)
        monkeypatch.setattr(opening, "SdkPeer", lambda server, streams: Peer())

    def around(self, listed: Sequence[Destination] = LISTED) -> LocalSurroundings:
        """As a new run has them."""
        return LocalSurroundings(
            Locations(
                root=str(self.root), state=str(self.root), own=str(self.own),
                paths=lambda: ("tools/server.py", ".mcp.json"), sandbox=lambda: FakeSandbox(lambda c: ended(0)),
                command=lambda argv, base, limits: Command(
                    argv=argv, base=base, cwd="/", env={"PATH": "/bin"}, limits=limits
                ),
                listed=listed, secret=lambda name: "s3cret-token",
            )
        )  # fmt: skip


class Peer:
    """It has no tools."""

    def definitions(self) -> tuple[()]:
        return ()

    def close(self) -> None:
        pass


def test_a_command_has_no_network_before_it_is_approved_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Opened(tmp_path, monkeypatch, COMMAND)
    made.around().peer("t", made.base)
    made.around().peer("t", made.base, approving=True)
    made.around().approve(made.server, ())
    assert made.around().approved(made.server, ()) and made.around().pinned() == ("tools/server.py",)
    made.around().peer("t", made.base)
    assert made.given == [(), (), LISTED]
    assert not made.around(listed=()).approved(made.server, ()), "it reaches less far now"
    stale = Base(tree="u", path=str(tmp_path / "copy"), mount_at=str(made.root))
    (tmp_path / "copy" / "tools").mkdir(parents=True)
    (tmp_path / "copy" / "tools" / "server.py").write_text("2")
    with pytest.raises(UsageError, match="not what was approved"):
        made.around().peer("t", stale)
    (made.root / "tools" / "server.py").write_text("2")
    made.around().peer("t", made.base)
    assert made.given[3:] == [()] and not made.around().approved(made.server, ())
    assert made.around().revoke("t") and not made.around().revoke("t") and made.around().pinned() == ()


def test_an_address_is_not_contacted_before_and_gets_no_secret_while_it_is_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Opened(tmp_path, monkeypatch, ADDRESS)
    with pytest.raises(UsageError, match="approve it first: referee servers approve t"):
        made.around().peer("t", made.base)
    assert made.given == []
    made.around().peer("t", made.base, approving=True)
    made.around().approve(made.server, None)
    assert not made.around().approved(made.server, ()), "its tools are not"
    made.around().peer("t", made.base)
    assert made.given == [{}, {"Authorization": "s3cret-token"}]


def test_a_listed_name_that_leads_to_a_near_address_is_not_contacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Opened(tmp_path, monkeypatch, ADDRESS)
    monkeypatch.setattr(RealNetwork, "resolve", lambda self, host, port: ("93.184.216.34", "10.0.0.1"))
    with pytest.raises(UsageError, match="not of the public internet"):
        made.around().peer("t", made.base, approving=True)
    assert made.given == []


def test_a_server_that_needs_its_secret_to_start_is_approved_in_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Opened(tmp_path, monkeypatch, ADDRESS)

    def asked(url: str, headers: dict[str, str], address: str) -> None:
        if not headers:
            raise WorldFault("the MCP server t did not start: 401")

    monkeypatch.setattr(opening, "_transport", asked)
    for_now = cast(Desk, SimpleNamespace(surroundings=made.around()))
    with pytest.raises(UsageError, match=r"401.*approved now.*referee servers approve t"):
        _introduced(for_now, "t", made.base)
    assert _introduced(for_now, "t", made.base).definitions() == ()


def test_hooks_that_go_elsewhere_are_not_trusted_as_the_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Opened(tmp_path, monkeypatch, COMMAND)
    group = {"hooks": [{"command": "cd tools && python server.py"}]}
    (made.root / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    with pytest.raises(UsageError, match="goes to another folder"):
        made.around().trust_hooks(Trusted.AS_ME)
    assert made.around().trust_hooks(Trusted.INSIDE).trusted is Trusted.INSIDE
    assert "tools/server.py" in made.around().pinned()


def test_an_answer_is_read_whole_or_the_hook_failed(tmp_path: Path) -> None:
    def said(size: int) -> Answer:
        hook = Hook(moment=Moment.BEFORE, command=f"head -c {size} /dev/zero | tr '\\0' x")
        return as_person(str(tmp_path), hook, b"")

    assert (len(said(100_000).stdout), said(100_000).failed) == (100_000, "")
    assert "more than 256000 bytes" in said(300_000).failed
