"""What people and programs call."""

from referee.api.lint import lint
from referee.api.memories import confirm, forget, memories, memory, remember
from referee.api.past import gc, journal, journal_lines, rollback, runs, show, verify
from referee.api.proposals import propose, undo_of
from referee.api.questions import answer, sign
from referee.api.questions import show as question
from referee.api.questions import waiting as questions
from referee.api.reference import docs, document, stale, write_docs
from referee.api.repairs import agent, fix, resume
from referee.api.tools import attack, check, doctor, map_tests, plan, sandbox
from referee.api.validate import validate

__all__ = [
    "agent",
    "answer",
    "attack",
    "check",
    "confirm",
    "docs",
    "doctor",
    "document",
    "fix",
    "forget",
    "gc",
    "journal",
    "journal_lines",
    "lint",
    "map_tests",
    "memories",
    "memory",
    "plan",
    "propose",
    "question",
    "questions",
    "remember",
    "resume",
    "rollback",
    "runs",
    "sandbox",
    "show",
    "sign",
    "stale",
    "undo_of",
    "validate",
    "verify",
    "write_docs",
]
