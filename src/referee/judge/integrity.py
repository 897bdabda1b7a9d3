"""What a patch must not do, seen before anything runs: by the paths it touches and by its source."""

from __future__ import annotations

from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.patch import FileChange, Patch
from referee.domain.protection import Protection
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.bench import Bench
from referee.judge.dynamic import dynamic
from referee.judge.examples import altered
from referee.judge.suites.suspect import lost_tests, suspect
from referee.judge.suspicion import suspicions
from referee.kernel.run import Run

NAME = "integrity"
_EXPECTED = "leave it as it is (a person can allow it by naming it under source in referee.toml)"


def integrity(run: Run, bench: Bench, patch: Patch) -> CheckResult:
    """No protected path, no test or expectation changed, and nothing that only makes sense against a judge.

    In the strict tier, nothing either that cannot be followed by reading.
    """
    if not bench.settings.parts.protection:
        return CheckResult(check=NAME, layer=Layer.FORMAT, state=CheckState.PASS, note="switched off")
    found: list[Finding] = []
    for change in patch.changes:
        path, before = change.path, run.read(bench.base.tree, change.path)
        if _guards(bench, path):
            said = f"{path} is protected: tests and what steers the judge are not the author's to change"
            found.append(_refused(path, "protected", said))
            continue
        if path in bench.known.reads and not _named(bench, path):
            said = f"{path} is read by the tests themselves, so it may hold what they expect; {_EXPECTED}"
            found.append(_refused(path, "expectation", said))
        found += _of_source(bench, change, before)
        if path in bench.tested:
            found += altered(NAME, change, before)
        if bench.project.others.suites:
            found += (*lost_tests(NAME, change, before), *suspect(NAME, change, before))
    state = CheckState.FAIL if found else CheckState.PASS
    return CheckResult(check=NAME, layer=Layer.FORMAT, state=state, findings=tuple(found))


def _of_source(bench: Bench, change: FileChange, before: bytes | None) -> tuple[Finding, ...]:
    if change.after is None or not change.path.endswith(".py"):
        return ()
    found = suspicions(NAME, change.path, before, change.after.data)
    if bench.settings.integrity == "strict":
        found += dynamic(NAME, change.path, before, change.after.data)
    return found


def _named(bench: Bench, path: str) -> bool:
    """Whether a person has named it as source."""
    source = bench.settings.source
    return bool(source) and Protection(source=source).objection(path) is None


def _refused(path: str, rule: str, message: str) -> Finding:
    return Finding(kind=FindingKind.UNAUTHORISED, check=NAME, id=path, path=path, rule=rule, message=message)


def _guards(bench: Bench, path: str) -> bool:
    inside = any(path == p or path.startswith(p + "/") for p in bench.base.protected)
    steers = any(path in s.guarded for s in bench.project.others.suites)
    return inside or steers or Protection().guarded(path)
