"""Pull requests: the branch is pushed and `gh` or `glab`, if there is one for the remote's host, opens the request."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from referee.adapters.git.git import Git
from referee.adapters.git.history import HEADS, History
from referee.adapters.git.outside import installed, outside
from referee.ports import Published, PullRequest

Settings = Mapping[str, tuple[str, ...]]
_ADDRESS = re.compile(r"(?:\w[\w+.-]*://)?(?:[^@/]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<path>.+?)(?:\.git)?/?")
_URL = re.compile(r"https?://\S+")
SHOWN = 300  # characters of what a program said
BODY = 60_000  # characters; forges refuse much longer ones
TOOLS = {"github": "gh", "gitlab": "glab"}


class Target(NamedTuple):
    """Where a request goes: the remote's name, its host and path, the tool for it, and the branch to merge into."""

    remote: str
    host: str
    path: str
    tool: str
    base: str


class Publisher:
    """Opens pull requests of one repository."""

    def __init__(self, git: Git, history: History) -> None:
        self._git = git
        self._history = history

    def publish(self, request: PullRequest) -> Published:
        """Push and open; each is tried once."""
        target = self._target()
        by_hand = self.by_hand(request)
        if named := self._git.programs(self._history.folder):
            said = f"this repository's own configuration names programs that git push would run ({', '.join(named)})"
            return Published(said=f"{said}; referee runs no such program", commands=by_hand)
        pushed = outside(self._git.push(target.remote, HEADS + request.branch), self._history.root)
        if pushed is None:
            return Published(said="git push did not end in time; whether it was pushed is unknown", commands=by_hand)
        if "transport 'file' not allowed" in pushed.words:
            said = f"{target.remote} is a folder on this machine, whose own hooks and settings a push would run"
            return Published(said=f"{said}; referee does not push there", commands=by_hand)
        if pushed.code:
            return Published(said=f"git push failed: {pushed.words[:SHOWN]}", commands=by_hand)
        if not target.tool or not installed(target.tool):
            host = target.host or "this remote"
            what = f"{target.tool} is not installed" if target.tool else f"no tool is known for {host}"
            return Published(said=f"the branch {request.branch} is pushed, but {what}", commands=by_hand[1:])
        return self._opened(target, request, by_hand[1:])

    def by_hand(self, request: PullRequest) -> tuple[str, ...]:
        """What a person types to do the same."""
        target = self._target()
        push = f"git push {shlex.quote(target.remote)} {shlex.quote(request.branch)}"
        return (push, shlex.join(_command(target, request, ""))) if target.tool else (push,)

    def _opened(self, target: Target, request: PullRequest, by_hand: tuple[str, ...]) -> Published:
        body = request.body[:BODY]
        said = outside(_command(target, request, body), self._history.root, body)
        if said is None:
            look = f"{target.tool} {'pr' if target.tool == 'gh' else 'mr'} list"
            return Published(
                said=f"{target.tool} did not end in time; whether the request is open is unknown: look with {look}",
                commands=by_hand,
            )
        if said.code:
            return Published(said=f"{target.tool} failed: {said.words[:SHOWN]}", commands=by_hand)
        urls = _URL.findall(said.out.decode("utf-8", "replace") + " " + said.words)
        if not urls:
            return Published(said=f"{target.tool} said no address of the request it opened: {said.words[:SHOWN]}")
        return Published(url=urls[-1])

    def _target(self) -> Target:
        settings, branch = self._history.settings(), self._history.branch()
        name = remote(settings, branch)
        found = _ADDRESS.fullmatch(settings.get(f"remote.{name}.url", ("",))[-1])
        host, path = (found["host"], found["path"]) if found else ("", "")
        tool = next((tool for kind, tool in TOOLS.items() if kind in host.lower()), "")
        short = branch.removeprefix(HEADS)
        tracked = settings.get(f"branch.{short}.merge", ("",))[-1].removeprefix(HEADS)
        base = tracked if settings.get(f"branch.{short}.remote", ("",))[-1] == name else ""
        return Target(name, host, path, tool, base)


def remote(settings: Settings, branch: str) -> str:
    """The name of the remote that a branch (a full name, empty if HEAD is detached) is pushed to; empty if none is."""
    names = [k.removeprefix("remote.").removesuffix(".url") for k in settings if re.fullmatch(r"remote\..+\.url", k)]
    short = branch.removeprefix(HEADS)
    wanted = [
        settings.get(k, ("",))[-1]
        for k in (f"branch.{short}.pushremote", "remote.pushdefault", f"branch.{short}.remote")
    ]
    wanted += ["origin", *(names if len(names) == 1 else ())]
    return next((name for name in wanted if name in names), "")


def _command(target: Target, request: PullRequest, body: str) -> list[str]:
    """The command that opens a request. `gh` reads the body from its input; `glab` takes it as an argument."""
    title, base = f"--title={request.title}", target.base
    if target.tool == "gh":
        where = target.path if target.host == "github.com" else f"{target.host}/{target.path}"
        named = [f"--repo={where}", f"--head={request.branch}", *([f"--base={base}"] if base else []), title]
        return ["gh", "pr", "create", *named, "--body-file=-" if body else "--fill"]
    where, head = f"https://{target.host}/{target.path}", f"--source-branch={request.branch}"
    named = [f"--repo={where}", head, *([f"--target-branch={base}"] if base else []), title]
    return ["glab", "mr", "create", *named, *([f"--description={body}", "--yes"] if body else ["--fill"])]
