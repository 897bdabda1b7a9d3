"""Every check on a tree as it is, with nothing known beforehand: for `referee check`."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import plan, ruling, stream
from referee.judge.carry import execute
from referee.judge.choose import checks_for
from referee.judge.evidence import Evidence, Expected, Known, known_from
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.settings import Settings
from referee.judge.targets import target_commands
from referee.kernel.run import Run
from referee.ports import Base


def examine(run: Run, project: Project, base: Base, settings: Settings) -> tuple[CheckResult, ...]:
    """Every check on the tree as it is, for `referee check`: nothing is known beforehand, everything counts."""
    results = [
        CheckResult(check=name, layer=Layer.FORMAT, state=CheckState.NOT_RUN, note="not installed")
        for name in project.missing()
        if name not in settings.skip
    ]
    for check in (*checks_for(project, settings, run.paths(base.tree)), *target_commands(project, settings, (), ())):
        command = check.command(base, Patch())
        read = check.read(execute(run, check.name, command)) if command else check.idle("nothing to check")
        results.append(read)
    if "pytest" in project.uses and "pytest" not in settings.skip:
        what = TestRun(test_seconds=settings.test_seconds)
        command = plan.command(project, base, Patch(), what, settings.suite_seconds)
        execution = run.perform(Execute(command=command))
        report = stream.read(execution.channel, execution.key)
        known = Known(
            outcomes={t: "passed" for t, o in report.outcomes.items() if o not in ("skipped", "xfailed", "xpassed")},
            tampering=report.tampering, plugins=report.plugins,
            canaries=known_from(report, 0).canaries,
        )  # fmt: skip
        evidence = Evidence(
            check="pytest-suite", layer=Layer.SUITE, execution=execution, expected=Expected(whole=True), known=known,
            flaky=settings.flaky,
        )  # fmt: skip
        results.append(ruling.rule(evidence, report))
    elif not any(r.layer in (Layer.TARGET, Layer.AFFECTED, Layer.SUITE) for r in results):
        note = "there are no tests, so nothing says whether the code works"
        results.append(CheckResult(check="tests", layer=Layer.SUITE, state=CheckState.NOT_RUN, note=note))
    return tuple(results)
