"""Hooks in the shape people have: which run at an event, and what their answers mean."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from referee.domain.named import named
from referee.domain.value import Value

_ALIASES = {
    "agent": ("Task", "Agent"), "edit": ("MultiEdit",), "todo": ("TodoWrite",), "http": ("WebFetch",),
    "skill": ("Skill",), "ask": ("AskUserQuestion",),
}  # fmt: skip
_MOVES = re.compile(r"(?:^|[\s;&|({`\"'])(?:cd|pushd)(?=[\s;&|)}`\"']|$)")
_KNOWN = {
    "bash": "Bash", "read": "Read", "write": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob", "agent": "Task",
    "todo": "TodoWrite", "http": "WebFetch", "skill": "Skill", "ask": "AskUserQuestion",
}  # fmt: skip
LONGEST = 600.0  # seconds of one hook
_USUAL = 60.0
_MEND = "only exit code 0 lets a call happen, so the user must mend this hook, or drop it with `referee hooks revoke`"


class Moment(StrEnum):
    """When hooks run."""

    BEFORE = "PreToolUse"
    AFTER = "PostToolUse"
    STOP = "Stop"


class Hook(Value):
    """One command at one moment. `matcher` is a pattern of tool names, empty for all; `timeout` in seconds."""

    moment: Moment
    matcher: str = ""
    command: str
    timeout: float = _USUAL


class Trusted(StrEnum):
    """How far a person trusts the hooks of a repository."""

    NOT = "not"  # they do not run
    INSIDE = "inside"  # in the sandbox
    AS_ME = "as me"  # as the person, on their machine


class Answer(Value):
    """How one hook ended. `failed` says that it could not be run to its end."""

    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    failed: str = ""


class Word(Value):
    """What hooks say together: `blocked` is why the call may not happen, `notes` what a person should know."""

    blocked: str = ""
    notes: tuple[str, ...] = ()


def parsed(document: Any) -> tuple[tuple[Hook, ...], tuple[str, ...]]:
    """The hooks in `{"hooks": {EVENT: [{"matcher", "hooks": [{"type": "command", …}]}]}}`, and what was left out."""
    found: list[Hook] = []
    notes: list[str] = []
    events = document.get("hooks", {}) if isinstance(document, Mapping) else None
    if not isinstance(events, Mapping):
        return (), ("hooks must be an object of events",)
    for event, groups in events.items():
        if event not in [m.value for m in Moment]:
            notes.append(f"hooks at {event} are not run here; those at {', '.join(m.value for m in Moment)} are")
            continue
        for group in groups if isinstance(groups, list) else [groups]:
            for entry in group.get("hooks", []) if isinstance(group, Mapping) else [None]:
                hook = _hook(Moment(event), group, entry)
                if isinstance(hook, Hook):
                    found.append(hook)
                else:
                    notes.append(hook)
    return tuple(found), tuple(notes)


def _hook(moment: Moment, group: Any, entry: Any) -> Hook | str:
    where = f"a hook at {moment.value}"
    if not isinstance(entry, Mapping):
        return f"{where} is not run: it is no object"
    command, matcher = entry.get("command"), group.get("matcher") or ""
    if entry.get("type", "command") != "command" or not isinstance(command, str) or not command.strip():
        return f"{where} is not run: only commands are"
    try:
        re.compile(matcher)
    except (re.error, TypeError):
        return f"{where} is not run: {str(matcher)[:60]!r} is no pattern"
    seconds = entry.get("timeout", _USUAL)
    if not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
        return f"{where} is not run: timeout must be at most {LONGEST:.0f} seconds"
    return Hook(moment=moment, matcher="" if matcher == "*" else matcher, command=command, timeout=float(seconds))


def known_as(tool: str) -> str:
    """The name by which hooks that people have know a tool."""
    return _KNOWN.get(tool, tool)


def due(hooks: Sequence[Hook], moment: Moment, tool: str = "") -> tuple[Hook, ...]:
    """The hooks that run at a moment, for a tool by any name that people know it by; in their order, each once."""
    names = (tool, *_ALIASES.get(tool, ()))

    def fits(hook: Hook) -> bool:
        return not hook.matcher or any(re.fullmatch(hook.matcher, n, re.IGNORECASE) for n in names)

    return tuple(dict.fromkeys(h for h in hooks if h.moment is moment and fits(h)))


def fingerprint(hooks: Sequence[Hook], paths: Iterable[str], digest: Callable[[str], str | None]) -> str:
    """The SHA-256 of the hooks and of each file, of all `paths`, that a command names: what a person trusts."""
    files = named((hook.command for hook in hooks), paths, digest)
    text = json.dumps([[h.model_dump(mode="json") for h in hooks], dict(files)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def moves(hook: Hook) -> bool:
    """Whether a command goes to another folder: which files its words then mean cannot be told."""
    return _MOVES.search(hook.command) is not None


def word(moment: Moment, hooks: Sequence[Hook], answers: Sequence[Answer]) -> Word:
    """What the answers mean: exit 2 blocks, with standard error as the reason; so does a guard that did not end well.

    Before a call only exit 0 lets it happen: a guard that crashed has looked at nothing. At other moments any exit code
    but 2 is told and no more. A hook can forbid, never permit what is forbidden otherwise.
    """
    blocked, notes = "", []
    for hook, answer in zip(hooks, answers, strict=True):
        name = hook.command[:80]
        if answer.failed:
            notes.append(f"the hook `{name}` did not come to its end: {answer.failed}")
            blocked = blocked or (f"{notes[-1]}; {_MEND}" if moment is Moment.BEFORE else "")
        elif answer.exit_code == 2:
            blocked = blocked or answer.stderr.strip() or f"the hook `{name}` says no"
        elif answer.exit_code:
            notes.append(f"the hook `{name}` ended with exit code {answer.exit_code}: {answer.stderr.strip()[:200]}")
            blocked = blocked or (f"{notes[-1]}; {_MEND}" if moment is Moment.BEFORE else "")
        else:
            said, broken = _denied(answer.stdout)
            if broken:
                notes.append(f"the hook `{name}` began an answer in JSON that is none")
            blocked = blocked or said or (f"{notes[-1]}; {_MEND}" if broken and moment is Moment.BEFORE else "")
    return Word(blocked=blocked, notes=tuple(notes))


def _denied(stdout: str) -> tuple[str, bool]:
    """The reason in a JSON answer that says no, and whether the answer begins as one and is none.

    Any other text permits nothing and forbids nothing.
    """
    if not stdout.lstrip().startswith("{"):
        return "", False
    try:
        said = json.loads(stdout)
    except (ValueError, RecursionError):
        return "", True
    inner = said.get("hookSpecificOutput")
    inner = inner if isinstance(inner, dict) else {}
    if said.get("decision") == "block" or inner.get("permissionDecision") in ("deny", "ask"):
        return str(said.get("reason") or inner.get("permissionDecisionReason") or "a hook says no"), False
    return str(said.get("stopReason") or "a hook stops the run") if said.get("continue") is False else "", False
