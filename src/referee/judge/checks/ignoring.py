"""Findings that the user's settings say do not count (D8). Tests, tampering and missing checks are beyond them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from referee.domain.finding import Finding, FindingKind
from referee.domain.protection import named_by
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.settings import Ignore


def without_ignored(result: CheckResult, ignores: Sequence[Ignore]) -> CheckResult:
    """The result with what is ignored set aside. It passes if it failed for nothing else."""
    aside = tuple(f for f in result.findings if any(matches(i, f) for i in ignores))
    if not aside:
        return result
    left = tuple(f for f in result.findings if f not in aside)
    passed = result.state is CheckState.FAIL and not left
    state = CheckState.PASS if passed else result.state
    return result.model_copy(update={"findings": left, "ignored": aside, "state": state})


def matches(ignore: Ignore, finding: Finding) -> bool:
    """Whether the finding is one of those meant."""
    if finding.kind is not FindingKind.FAILURE:
        return False
    named = ignore.check in ("", finding.check) and ignore.rule in ("", finding.rule)
    if not named or (ignore.message and not re.search(ignore.message, finding.message)):
        return False
    return not ignore.path or bool(finding.path and named_by(ignore.path, finding.path))


def unused(ignores: Iterable[Ignore], results: Sequence[CheckResult]) -> tuple[str, ...]:
    """A sentence about each ignore that set nothing aside, though its check ran."""
    ran = {r.check for r in results if r.state is not CheckState.NOT_RUN}
    found = [f for r in results for f in r.ignored]
    idle = [i for i in ignores if (not i.check or i.check in ran) and not any(matches(i, f) for f in found)]
    return tuple(f"an ignore is not used any more: {described(i)}; remove it" for i in idle)


def described(ignore: Ignore) -> str:
    """The ignore in one line."""
    fields = (("check", ignore.check), ("rule", ignore.rule), ("path", ignore.path), ("message", ignore.message))
    return ", ".join(f"{name} {value!r}" for name, value in fields if value) + f" ({ignore.reason})"
