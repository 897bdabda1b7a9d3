"""What people and programs call."""

from referee.api.past import gc, journal, rollback, runs, show, verify
from referee.api.repairs import fix, resume
from referee.api.tools import check, doctor, plan, sandbox

__all__ = ["check", "doctor", "fix", "gc", "journal", "plan", "resume", "rollback", "runs", "sandbox", "show", "verify"]
