"""Servers of tools that are not ours (MCP): how they are written down, pinned, named and classed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from referee.domain.risk import Risk
from referee.domain.value import Value

MOST_TOOLS = 64
MOST_DESCRIPTION = 2_000  # characters of a description that reach a model
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_KNOWN = frozenset(("type", "command", "args", "env", "url", "headers", "timeout", "disabled"))


class Server(Value):
    """One server: a command that talks on its standard input and output, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""


class Definition(Value):
    """One tool as its server defines it; `hints` are its annotations, which nobody vouches for."""

    server: str
    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    hints: Mapping[str, bool] = {}

    @property
    def tool(self) -> str:
        """The name a model calls it by."""
        return f"mcp__{re.sub(r'[^A-Za-z0-9_-]', '_', self.server)}__{re.sub(r'[^A-Za-z0-9_-]', '_', self.name)}"


class Reply(Value):
    """What a tool answered, as text; `failed` is the tool's own word for it."""

    text: str
    failed: bool = False


def servers(document: Any) -> tuple[tuple[Server, ...], tuple[str, ...]]:
    """The servers in `{"mcpServers": {NAME: {"command", "args", "env"} or {"url"}}}`, and what was left out."""
    found: list[Server] = []
    notes: list[str] = []
    named = document.get("mcpServers", {}) if isinstance(document, Mapping) else None
    if not isinstance(named, Mapping):
        return (), ("mcpServers must be an object of servers by name",)
    for name, entry in sorted(named.items()):
        wrong = _objection(name, entry)
        if wrong:
            notes.append(f"the server {str(name)[:64]!r} is left out: {wrong}")
        elif not entry.get("disabled"):
            fields = {k: entry[k] for k in ("command", "args", "env", "url") if entry.get(k)}
            try:
                found.append(Server.model_validate({**fields, "name": name}))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                notes.append(f"the server {name!r} is left out: {first['loc'][0]}: {first['msg']}")
    return tuple(found), tuple(notes)


def _objection(name: str, entry: Any) -> str:
    if not _NAME.fullmatch(name) or "__" in name:
        return "call it by letters, digits, dots and single dashes"
    if not isinstance(entry, Mapping):
        return "it is no object"
    if unknown := sorted(set(entry) - _KNOWN):
        return f"it has {unknown[0]!r}, which means nothing here"
    if bool(entry.get("command")) == bool(entry.get("url")):
        return "it needs either a command or a url"
    if entry.get("headers"):
        return "headers are not taken from a repository; sandbox.inject adds one outside, from a variable of yours"
    if "${" in json.dumps(entry, default=str):
        return "variables of yours are not given to it; sandbox.inject adds a secret outside"
    if entry.get("url") and urlsplit(str(entry["url"])).scheme not in ("http", "https"):
        return "its url must begin with http:// or https://"
    return ""


def launch(server: Server, reach: Literal["inside", "outside"], files: Mapping[str, str]) -> str:
    """The SHA-256 of how a server is started, how far it reaches, and the content of the `files` that it names."""
    text = json.dumps([server.model_dump(mode="json"), reach, dict(files)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pin(launched: str, definitions: Sequence[Definition]) -> str:
    """The SHA-256 of a server's `launch` and of every word of its tools: what a person approves."""
    shown = [d.model_dump(mode="json") for d in sorted(definitions, key=lambda d: d.name)]
    return hashlib.sha256(json.dumps([launched, shown], sort_keys=True).encode()).hexdigest()


def risk(definition: Definition, reach: Literal["inside", "outside"]) -> Risk:
    """The class of a tool: what its server can reach; its own hints can raise that and never lower it."""
    if definition.hints.get("destructiveHint") is True:
        return Risk.IRREVERSIBLE
    return Risk.SCRATCH if reach == "inside" else Risk.EGRESS


def objection(definitions: Sequence[Definition]) -> str:
    """Why a server's tools cannot be used at all; empty if they can."""
    if len(definitions) > MOST_TOOLS:
        return f"it has {len(definitions)} tools; at most {MOST_TOOLS} are taken"
    names = [d.tool for d in definitions]
    twice = sorted({n for n in names if names.count(n) > 1})
    return f"two of its tools are called {twice[0]}" if twice else ""
