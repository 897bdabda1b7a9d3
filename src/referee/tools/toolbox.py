"""The tools there are, and how one call goes: looked up, read, ruled on, done, answered."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from functools import cache

from referee.actions.call_tool import CallTool
from referee.domain.errors import Rejected, UsageError
from referee.domain.observation import Observation, denied, failed
from referee.domain.risk import Risk
from referee.plugins import plugins
from referee.ports import ToolCall, ToolSpec
from referee.tools.changing import delete, edit, move, write
from referee.tools.checking import check
from referee.tools.delegating import agent, workflow
from referee.tools.guards import guarded, guards
from referee.tools.jobs import job_kill, job_list, job_read, job_wait
from referee.tools.knowing import forget, recall, remember, skill
from referee.tools.people import ask, present, request
from referee.tools.planning import note, todo
from referee.tools.proposing import http, propose
from referee.tools.reading import glob, read
from referee.tools.room import Room
from referee.tools.shell import bash, grep
from referee.tools.symbols import symbols
from referee.tools.timing import schedule, schedule_list, schedule_remove
from referee.tools.tool import Needs, Tool
from referee.tools.words import both_ends

SPILLED_CHARS = 48_000  # about 12 000 tokens

# A tool that is not here does not exist. The order is that of the prompt: changing it empties every prompt cache.
TOOLS: tuple[Tool, ...] = (
    read,
    write,
    edit,
    delete,
    move,
    grep,
    glob,
    symbols,
    bash,
    job_read,
    job_wait,
    job_kill,
    job_list,
    check,
    todo,
    note,
    skill,
    remember,
    recall,
    forget,
    agent,
    workflow,
    ask,
    present,
    request,
    schedule,
    schedule_list,
    schedule_remove,
    http,
    propose,
)


def known(pattern: str) -> bool:
    """Whether a rule's wildcard can be about some tool: one of ours, or of a server, whose tools nobody knows yet."""
    name = pattern.casefold()
    return name.startswith("mcp__") or any(fnmatch.fnmatchcase(t.name, name) for t in every())


@cache
def every() -> tuple[Tool, ...]:
    """Ours, then those of plugins by name. Raises `UsageError` for what is no tool, or has the name of one of ours."""
    added = [(plugin, plugin.load()) for _, plugin in sorted(plugins("tools").items())]
    for plugin, each in added:
        if not isinstance(each, Tool) or each.name in {t.name for t in TOOLS}:
            raise UsageError(f"{plugin.package}: {plugin.point.value} is no new tool; make one with @tool(group, risk)")
    return (*TOOLS, *(each for _, each in added))


class Toolbox:
    """The tools of one role, by name."""

    def __init__(self, tools: Sequence[Tool] | None = None) -> None:
        """All tools there are, unless some are given."""
        self._tools = {t.name: t for t in (every() if tools is None else tools)}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model is told of them."""
        return tuple(t.spec for t in self._tools.values())

    def without(self, *names: str) -> Toolbox:
        """These tools but some."""
        return Toolbox([t for t in self._tools.values() if t.name not in names])

    def plus(self, tools: Sequence[Tool]) -> Toolbox:
        """These tools and others; one of ours is never replaced."""
        return Toolbox((*self._tools.values(), *(t for t in tools if t.name not in self._tools)))

    def call(self, room: Room, call: ToolCall) -> Observation:
        """Do one call. What the model did wrong, or may not do, is an observation; the room has taken it in.

        Raises `Exhausted`, `WorldFault` and every `Interrupt`: those are not the model's.
        """
        found = self._tools.get(call.name)
        if found is not None and found.needs:
            _ready(room, found.needs)
        if guards(room, call.name):
            _ready(room, "shell")
        risk = found.risk if found else Risk.READ
        granted = call.name in room.granted
        room.granted.discard(call.name)
        asked = CallTool(call_id=call.id, tool=call.name, arguments=call.arguments, risk=risk, granted=granted)
        try:
            observed = room.run.within(asked, lambda: guarded(room, call, lambda: self._done(room, found, call)))
        except Rejected as refused:  # by a rule over the call itself
            observed = denied(refused.findings)
        room.take(observed)
        return observed

    def _done(self, room: Room, found: Tool | None, call: ToolCall) -> Observation:
        if found is None:
            near = difflib.get_close_matches(call.name, self._tools, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            return Observation(
                text=f"there is no tool {call.name}; {hint}the tools are {', '.join(self._tools)}", outcome="invalid"
            )
        try:
            arguments = found.read(call.arguments)
        except ValueError as wrong:
            return Observation(text=f"nothing was done: {wrong}", outcome="invalid")
        try:
            return _spilled(room, found.work(room, **arguments))
        except Rejected as refused:  # by a rule over what it wanted to do
            return denied(refused.findings)
        except ValueError as wrong:
            return failed(str(wrong))


def _spilled(room: Room, observed: Observation) -> Observation:
    """A result that is too long goes to a file; what a file has already stays there."""
    if len(observed.text) <= SPILLED_CHARS or observed.kept or observed.seen:
        return observed
    where = f"\n[{len(observed.text)} characters, all of them in {room.next_output}]"
    kept = room.run.put(observed.text.encode("utf-8", "replace"))
    return observed.model_copy(update={"text": both_ends(observed.text, SPILLED_CHARS // 4) + where, "kept": kept})


def _ready(room: Room, needs: Needs) -> None:
    """Make ready what the call needs, outside of the call: a replay that recalls the call needs it all the same."""
    if needs == "shell" and room.shell is None:
        room.shell = room.place.equip(room.run)
    if needs == "judge":
        room.place.judge(room.run)
