"""What people and programs call."""

from referee.api.database import copy_journal, migrate
from referee.api.deps import deps
from referee.api.exports import acp, ag_ui, insights, send_spans, trajectory
from referee.api.lint import lint
from referee.api.memories import confirm, forget, memories, memory, remember
from referee.api.past import gc, journal, journal_lines, rollback, runs, show, verify
from referee.api.proposals import propose, undo_of
from referee.api.questions import answer, sign
from referee.api.questions import show as question
from referee.api.questions import waiting as questions
from referee.api.reference import docs, document, stale, write_docs
from referee.api.repairs import agent, fix, resume, workflow
from referee.api.replay import replay
from referee.api.schedule import next_due, plan_task, schedule, unplan, work
from referee.api.tools import attack, check, doctor, map_tests, plan, sandbox, skills
from referee.api.trust import approve_server, hooks, revoke_server, servers, trust_hooks
from referee.api.validate import validate

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
