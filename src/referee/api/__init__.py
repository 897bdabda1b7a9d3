"""What people and programs call."""

from referee.api.past import gc, journal, rollback, runs, show, verify
from referee.api.repairs import fix, resume
from referee.api.tools import attack, check, doctor, map_tests, plan, sandbox

__all__ = [
    "attack",
    "check",
    "doctor",
    "fix",
    "gc",
    "journal",
    "map_tests",
    "plan",
    "resume",
    "rollback",
    "runs",
    "sandbox",
    "show",
    "verify",
]
