"""Hooks around a call: before it they can forbid it, after it they can say something about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from referee.actions.surround import RunHook
from referee.domain.finding import Finding, FindingKind
from referee.domain.hooks import Moment, Word, due, known_as, word
from referee.domain.observation import Observation, denied
from referee.ports import ToolCall
from referee.tools.room import Room


def guards(room: Room, tool: str) -> bool:
    """Whether any hook runs around a tool: then commands must be able to run."""
    return bool(due(room.hooks, Moment.BEFORE, tool) or due(room.hooks, Moment.AFTER, tool))


def guarded(room: Room, call: ToolCall, work: Callable[[], Observation]) -> Observation:
    """What the call comes to, unless a hook forbids it; what a hook says afterwards is added."""
    facts = {"tool_name": known_as(call.name), "tool_input": _input(room, call)}
    before = _ask(room, Moment.BEFORE, call.name, facts, room.tree)
    if before.blocked:
        finding = Finding(
            kind=FindingKind.UNAUTHORISED, check="hook", id=call.name, rule="hook", message=before.blocked[:2_000]
        )
        return denied((finding,))
    observed = work()
    facts["tool_response"] = {"outcome": observed.outcome, "text": observed.text}
    after = _ask(room, Moment.AFTER, call.name, facts, observed.tree or room.tree)
    if not after.blocked:
        return observed
    return observed.model_copy(update={"text": f"{observed.text}\n[a hook says: {after.blocked[:2_000]}]"})


def stopped(room: Room, answer: str) -> str:
    """Why the agent may not stop yet, as a hook has it; empty if it may."""
    return _ask(room, Moment.STOP, "", {"answer": answer, "stop_hook_active": False}, room.tree).blocked[:2_000]


def _ask(room: Room, moment: Moment, tool: str, facts: Mapping[str, Any], tree: str) -> Word:
    hooks = due(room.hooks, moment, tool)
    if not hooks:
        return Word()
    if room.shell is None:
        room.shell = room.place.equip(room.run)
    base, run = room.shell.base, room.run
    event = {"session_id": run.id, "cwd": run.root, "hook_event_name": moment.value, **facts}
    text, patch = json.dumps(event) + "\n", run.between(base.tree, tree)
    said = word(moment, hooks, [run.perform(RunHook(hook=h, event=text, base=base, patch=patch)) for h in hooks])
    for note in said.notes:
        run.note(note)
    return said


def _input(room: Room, call: ToolCall) -> Any:
    """The arguments, with a path also as those hooks know it that were written for others."""
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        return {"text": call.arguments}
    if isinstance(given, dict) and isinstance(given.get("path"), str):
        return {**given, "file_path": f"{room.run.root}/{given['path']}"}
    return given
