"""How known agents are called, and the one host each may reach: its provider, which gets the key outside."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from referee.domain.destination import Destination, Injection
from referee.domain.errors import UsageError
from referee.domain.value import Value

PROMPT, PROMPT_FILE = "{prompt}", "{prompt_file}"
_OUTSIDE = "added-outside-the-sandbox"  # where an agent insists on a key; the real one never comes in


class Agent(Value):
    """An agent to run. In `argv`, {prompt} stands for the prompt and {prompt_file} for a file that holds it.

    With neither of them the prompt comes on standard input. `egress` is where it may connect to.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    egress: tuple[Destination, ...] = ()


class Provider(Value):
    """A provider's host, the header that carries the key, and what points an agent at it.

    Agents speak plain HTTP to the proxy, which adds the key and speaks TLS to the provider.
    """

    host: str
    header: str
    form: str = "{}"
    key: str
    urls: Mapping[str, str]

    @property
    def env(self) -> dict[str, str]:
        """The variables by which agents find the provider."""
        return {**self.urls, self.key: _OUTSIDE}

    @property
    def destination(self) -> Destination:
        """The provider, and nothing else."""
        injection = Injection(header=self.header, variable=self.key, form=self.form)
        return Destination(host=self.host, injection=injection)


class Preset(Value):
    """`arguments` follow the program, then come the user's own; `prompt` ends the line."""

    provider: str
    arguments: tuple[str, ...] = ()
    prompt: tuple[str, ...] = (PROMPT,)
    env: Mapping[str, str] = {}


PROVIDERS = {
    "anthropic": Provider(
        host="api.anthropic.com", header="x-api-key", key="ANTHROPIC_API_KEY",
        urls={"ANTHROPIC_BASE_URL": "http://api.anthropic.com", "ANTHROPIC_API_BASE": "http://api.anthropic.com"},
    ),
    "openai": Provider(
        host="api.openai.com", header="Authorization", form="Bearer {}", key="OPENAI_API_KEY",
        urls={"OPENAI_BASE_URL": "http://api.openai.com/v1", "OPENAI_API_BASE": "http://api.openai.com/v1"},
    ),
    "gemini": Provider(
        host="generativelanguage.googleapis.com", header="x-goog-api-key", key="GEMINI_API_KEY",
        urls={"GOOGLE_GEMINI_BASE_URL": "http://generativelanguage.googleapis.com"},
    ),
}  # fmt: skip

PRESETS = {
    "claude": Preset(
        provider="anthropic", arguments=("--dangerously-skip-permissions",), prompt=("-p", PROMPT),
        env={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    "codex": Preset(provider="openai", arguments=("exec", "--dangerously-bypass-approvals-and-sandbox")),
    "gemini": Preset(provider="gemini", arguments=("--yolo",), prompt=("-p", PROMPT)),
    "aider": Preset(
        provider="openai",
        arguments=(
            "--yes-always", "--no-auto-commits", "--no-gitignore", "--no-check-update", "--no-analytics",
            "--no-show-model-warnings", "--no-detect-urls",
        ),
        prompt=("--message-file", PROMPT_FILE),
        env={"AIDER_DARK_MODE": "false"},
    ),
    "mini": Preset(
        provider="openai", arguments=("--yolo", "--exit-immediately"), prompt=("-t", PROMPT),
        env={"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1", "MSWEA_COST_TRACKING": "ignore_errors"},
    ),
    "opencode": Preset(provider="anthropic", arguments=("run",)),
}  # fmt: skip
_ALIASES = {"mini-swe-agent": "mini"}


def agent(text: str, reachable: tuple[Destination, ...] = ()) -> Agent:
    """The agent that `text`, the part of --generator after `command:`, describes; `reachable` are the user's domains.

    A preset is known by the name of its program, unless the command says itself where the prompt goes. The provider is
    that of the model in its arguments (`anthropic/...`), else the preset's usual one; a user who lists domains has
    decided about the network, and then the preset does not. Raises `UsageError`.
    """
    try:
        given = shlex.split(text)
    except ValueError as wrong:
        raise UsageError(f"--generator command:… cannot be read: {wrong}; quote it as in a shell") from None
    if not given:
        raise UsageError("--generator command:… names no program; use for example --generator 'command:aider'")
    name = os.path.basename(given[0])
    preset = PRESETS.get(_ALIASES.get(name, name))
    if preset is None or any(PROMPT in a or PROMPT_FILE in a for a in given):
        return Agent(name=name, argv=tuple(given), egress=reachable)
    argv = (given[0], *preset.arguments, *given[1:], *preset.prompt)
    if reachable:
        return Agent(name=name, argv=argv, env=preset.env, egress=reachable)
    named = next((p for p in PROVIDERS if any(f"{p}/" in a for a in given[1:])), preset.provider)
    provider = PROVIDERS[named]
    env = {**preset.env, **provider.env}
    return Agent(name=name, argv=argv, env=env, egress=(provider.destination,))
