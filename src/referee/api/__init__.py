"""What people and programs call. Each part is loaded when it is first asked for: a run needs few of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api.asking import answer, sign
    from referee.api.asking import show as question
    from referee.api.asking import waiting as questions
    from referee.api.database import copy_journal, migrate
    from referee.api.exports import acp, ag_ui, insights, send_spans, trajectory
    from referee.api.linting import lint
    from referee.api.past import gc, journal, journal_lines, rollback, runs, show, verify
    from referee.api.proposals import propose, undo_of
    from referee.api.reference import docs, document, stale, write_docs
    from referee.api.remembering import confirm, forget, memories, memory, remember
    from referee.api.repairs import agent, fix, resume, workflow
    from referee.api.replaying import replay
    from referee.api.resolving import deps
    from referee.api.scheduling import next_due, plan_task, schedule, unplan, work
    from referee.api.tools import attack, check, doctor, map_tests, plan, sandbox, skills
    from referee.api.trust import approve_server, hooks, revoke_server, servers, trust_hooks
    from referee.api.validating import validate

__all__ = [
    "acp",
    "ag_ui",
    "agent",
    "answer",
    "approve_server",
    "attack",
    "check",
    "confirm",
    "copy_journal",
    "deps",
    "docs",
    "doctor",
    "document",
    "fix",
    "forget",
    "gc",
    "hooks",
    "insights",
    "journal",
    "journal_lines",
    "lint",
    "map_tests",
    "memories",
    "memory",
    "migrate",
    "next_due",
    "plan",
    "plan_task",
    "propose",
    "question",
    "questions",
    "remember",
    "replay",
    "resume",
    "revoke_server",
    "rollback",
    "runs",
    "sandbox",
    "schedule",
    "send_spans",
    "servers",
    "show",
    "sign",
    "skills",
    "stale",
    "trajectory",
    "trust_hooks",
    "undo_of",
    "unplan",
    "validate",
    "verify",
    "work",
    "workflow",
    "write_docs",
]

# Where each name is; no module may be called like one, or importing the module would hide it.
_MODULES = {
    "asking": "answer question questions sign",
    "database": "copy_journal migrate",
    "exports": "acp ag_ui insights send_spans trajectory",
    "linting": "lint",
    "past": "gc journal journal_lines rollback runs show verify",
    "proposals": "propose undo_of",
    "reference": "docs document stale write_docs",
    "remembering": "confirm forget memories memory remember",
    "repairs": "agent fix resume workflow",
    "replaying": "replay",
    "resolving": "deps",
    "scheduling": "next_due plan_task schedule unplan work",
    "tools": "attack check doctor map_tests plan sandbox skills",
    "trust": "approve_server hooks revoke_server servers trust_hooks",
    "validating": "validate",
}
_OTHERWISE = {"question": "show", "questions": "waiting"}  # by which name a module itself has them
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """The function of that name, from its module."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_WHERE[name]}"), _OTHERWISE.get(name, name))
    globals()[name] = found
    return found
