"""The judge is checked before the player plays (D4): the target fails, alike every time, in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from referee.domain.errors import Exhausted, UsageError
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.reason import StopReason
from referee.domain.verdict import CheckResult, CheckState, fingerprint
from referee.judge import facts
from referee.judge.baseline import as_it_is, with_tests
from referee.judge.bench import Bench
from referee.judge.carry import execute
from referee.judge.checks import Check, CommandCheck, without_ignored
from referee.judge.choose import checks_for, limit_of, suites_of, without_skipped
from referee.judge.project import Project
from referee.judge.seen import alike, in_time
from referee.judge.settings import Settings
from referee.judge.suites.named import divided
from referee.judge.suites.ready import Ready, ready
from referee.judge.targets import equipped, kinds, promoted, target_commands
from referee.kernel.run import Run
from referee.ports import Base

_NOTHING = Patch()
_NOT_STRICT = (
    'integrity = "strict" cross-examines tests run by pytest, and none is the target; name one, or use "default"'
)


def prepare(run: Run, project: Project, base: Base, targets: Sequence[str], settings: Settings) -> Bench:
    """A bench whose targets are known to fail. Raises `UsageError` or `Exhausted` with a sentence that says why not."""
    project = without_skipped(project, settings)
    claimed, plain = divided(project, targets)
    own, plain = promoted(checks_for(project, settings, run.paths(base.tree)), plain)
    ids, commands = kinds(frozenset(run.paths(base.tree)), plain)
    checks = (*own, *target_commands(project, settings, commands, ids))
    seconds = settings.test_seconds
    bench = Bench(project=project, base=base, settings=settings, checks=checks, test_seconds=seconds)
    demanded = [c for c in checks if c.layer is Layer.TARGET]
    equipped(project, settings.skip, bool(demanded or project.others.suites))
    _told(run, project.note, project.left_out)
    aside = _Aside(run.branch("baseline"), bench)
    try:
        failures = [_reproduced(run, bench, c) for c in demanded]
        aimed = _others(run, bench, claimed, seek=not targets and not demanded)
        other = bool(demanded) or any(r.targets for r in aimed)
        if "pytest" in project.uses:
            bench = with_tests(run, bench, ids, other)
        elif not other:
            raise Exhausted(StopReason.NOT_REPRODUCED, "the whole suite passes on the tree as it is: nothing to repair")
        if settings.integrity == "strict" and not bench.targets:
            raise UsageError(_NOT_STRICT)
        known = aside.known()
        idle = {name: found for name, found in known.items() if isinstance(found, str)}
        _told(run, "", {name: f"on the tree as it is, {why}" for name, why in idle.items()})
    finally:
        aside.leave()
    update = {
        "known_findings": {name: found for name, found in known.items() if name not in idle},
        "checks": (*(c for c in checks if c.name not in idle), *(c for r in aimed for c in r.checks)),
        "failures": (*failures, *(f for r in aimed for f in r.failures), *bench.failures),
        "aims": tuple(t for r in aimed for t in r.targets),
    }
    return bench.model_copy(update=update)


def _told(run: Run, note: str, left_out: Mapping[str, str]) -> None:
    """What the project lacks, and which checks are left out for what reason."""
    for text in (note, *(f"{name} is left out: {why}" for name, why in left_out.items())):
        if text:
            run.note(text)


def _others(run: Run, bench: Bench, claimed: Mapping[str, tuple[str, ...]], seek: bool) -> list[Ready]:
    """The suites of other languages; one that cannot run is left out, loudly, where something else judges."""
    judged = "pytest" in bench.project.uses or any(c.layer is Layer.TARGET for c in bench.checks)
    suites = suites_of(bench.project, bench.settings)
    made = [ready(run, bench, s, claimed.get(s.name, ()), seek=seek, alone=not judged) for s in suites]
    left_out = [r.left_out for r in made if r.left_out]
    if not judged and len(left_out) == len(made):
        raise UsageError("; ".join(left_out))
    for note in left_out:
        run.note(note)
    return made


class _Aside:
    """What the other checks say of the unpatched tree, found out while the tests run: mypy may take as long."""

    def __init__(self, run: Run, bench: Bench, *, every: bool = False) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="baseline")
        checks = [c for c in bench.checks if every or c.layer is not Layer.TARGET]
        self._known = self._pool.submit(lambda: {c.name: _baseline(run, bench, c) for c in checks})

    def known(self) -> Mapping[str, tuple[Finding, ...] | str]:
        """By check, the findings or why it cannot run, once all were tried; what went wrong there is raised here."""
        return self._known.result()

    def leave(self) -> None:
        """Wait for nothing: whoever stops the run closes the sandbox, which ends what still runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _reproduced(run: Run, bench: Bench, check: Check) -> CheckResult:
    """A command target fails, the same way every time."""
    results = []
    for _ in range(bench.settings.repeats):
        command = check.command(bench.base, _NOTHING)
        if command is None:
            raise UsageError(f"{check.name} has nothing to run")
        results.append(without_ignored(check.read(execute(run, check.name, command)), bench.settings.ignore))
        last = results[-1]
        if last.state is CheckState.NOT_RUN:
            raise UsageError(f"{check.name} cannot run in the sandbox: {last.note}")
        in_time(last.killed_by, check.name, check.seconds, limit_of(check))
    alike([{check.name: r.state.value} for r in results], [fingerprint(r.findings) for r in results])
    if results[0].state is CheckState.PASS:
        raise Exhausted(
            StopReason.NOT_REPRODUCED, f"{check.name} passes on the tree as it is: there is nothing to repair"
        )
    return results[0]


def _baseline(run: Run, bench: Bench, check: Check) -> tuple[Finding, ...] | str:
    """What a check already says about the unpatched tree.

    A linter that was only detected and cannot run there judges nobody: why is said instead. A check that the user
    asked for must run.
    """
    run.progress("check", {"check": check.name, "layer": check.layer.value, "baseline": True})
    command = check.command(bench.base, _NOTHING)
    if command is None:
        return ()
    key = facts.key_of_check(bench.project, check, command)
    said = facts.known_result(run, key) if check.lasting else None
    if said is None:
        said = check.read(execute(run, check.name, command))
        if check.lasting:
            facts.keep_result(run, key, said)
    result = without_ignored(said, bench.settings.ignore)
    in_time(result.killed_by, check.name, check.seconds, limit_of(check))
    if result.state is not CheckState.NOT_RUN:
        return result.findings
    if isinstance(check, CommandCheck) and not result.optional:
        raise Exhausted(StopReason.JUDGE_UNRELIABLE, f"on the tree as it is, {result.note}")
    return result.note


def standing(run: Run, project: Project, base: Base, settings: Settings) -> Bench | None:
    """A bench for a change that mends nothing in particular: nothing may be worse than on the unpatched tree.

    None, loudly, if no test and no command of the user's judges here.
    """
    project = without_skipped(project, settings)
    paths = frozenset(run.paths(base.tree))
    checks = (*checks_for(project, settings, run.paths(base.tree)), *target_commands(project, settings, (), ()))
    if "pytest" not in project.uses and not project.others.suites and not settings.checks:
        run.note("nothing can judge here: no tests were found, and no check is configured")
        return None
    _told(run, project.note, project.left_out)
    bench = Bench(project=project, base=base, settings=settings, checks=checks, test_seconds=settings.test_seconds)
    aside = _Aside(run.branch("baseline"), bench, every=True)
    try:
        equipped(project, settings.skip, demanded=True)
        ready_ones = _others(run, bench, {}, seek=False) if paths and project.others.suites else []
        if "pytest" in project.uses:
            bench = as_it_is(run, bench)
        known = aside.known()
    except UsageError as unable:
        run.note(f"nothing can judge here: {unable}")
        return None
    finally:
        aside.leave()
    idle = {name: found for name, found in known.items() if isinstance(found, str)}
    _told(run, "", {name: f"on the tree as it is, {why}" for name, why in idle.items()})
    update = {
        "known_findings": {name: found for name, found in known.items() if name not in idle},
        "checks": (*(c for c in checks if c.name not in idle), *(c for r in ready_ones for c in r.checks)),
    }
    return bench.model_copy(update=update)
