"""Why a run ended. The names are stable: reports, dashboards and scripts rely on them."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """One reason a run ends."""

    SOLVED = "solved"
    STEPS_EXHAUSTED = "steps_exhausted"
    TIMEOUT = "timeout"
    TOKEN_EXHAUSTED = "token_exhausted"  # noqa: S105 - a budget axis, not a credential
    COST_TRIPPED = "cost_tripped"
    NON_PROGRESS = "non_progress"
    SANDBOX_KILLED = "sandbox_killed"
    HUMAN_ABORT = "human_abort"
    FLAKY_CHECK = "flaky_check"
    GATE_REGRESSION = "gate_regression"
    SCHEMA_FAILURE = "schema_failure"
    JUDGE_UNRELIABLE = "judge_unreliable"
    NOT_REPRODUCED = "not_reproduced"
    BASE_MOVED = "base_moved"
    NEEDS_SIGNATURE = "needs_signature"
    WORLD_FAULT = "world_fault"
