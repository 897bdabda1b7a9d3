"""One class per check: the command it runs, and a pure reading of how that ended."""

from referee.judge.checks.base import Check, new_only
from referee.judge.checks.command import CommandCheck
from referee.judge.checks.ignoring import unused, without_ignored
from referee.judge.checks.mypy import MypyCheck
from referee.judge.checks.reported import ReportedCheck
from referee.judge.checks.ruff import FormatCheck, RuffCheck
from referee.judge.checks.suite import SuiteCheck
from referee.judge.checks.syntax import SyntaxCheck

__all__ = [
    "Check",
    "CommandCheck",
    "FormatCheck",
    "MypyCheck",
    "ReportedCheck",
    "RuffCheck",
    "SuiteCheck",
    "SyntaxCheck",
    "new_only",
    "unused",
    "without_ignored",
]
