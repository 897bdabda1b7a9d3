"""What every check has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import Literal, Self

from referee.domain.finding import Finding, FindingKind
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState
from referee.judge.normal import coarse, decode
from referee.judge.plan import limits
from referee.judge.project import Project, Tool
from referee.ports import Base, Command, Execution

_REPORT_BYTES = 16 << 20  # a linter's JSON on an untidy project is long, and a cut report is no report


class Check(Value):
    """A check of a whole project (an empty patch) or of what a patch changes.

    `reader` names how output becomes findings, `why` says where the check comes from. `not_run` is what it means if it
    cannot run: `block`, or `allow`.
    """

    name: str
    layer: Layer
    project: Project
    seconds: float = 60.0
    reader: str
    why: str = ""
    not_run: Literal["block", "allow"] = "block"

    @property
    def cost(self) -> str:
        """How dear its layer is: `cheap`, `moderate` or `dear`."""
        return "dear" if self.layer.gate else "cheap" if self.layer in (Layer.FORMAT, Layer.COMPILE) else "moderate"

    @property
    def lasting(self) -> bool:
        """Whether what it says of a tree may be remembered: all that it runs is known by version."""
        return True

    def as_target(self) -> Self:
        """The same check as the one that fails now and must pass: on everything, whatever a patch touches."""
        return self.model_copy(update={"layer": Layer.TARGET})

    @abstractmethod
    def command(self, base: Base, patch: Patch) -> Command | None:
        """What to run, or None if the patch gives this check nothing to look at."""

    @abstractmethod
    def read(self, execution: Execution) -> CheckResult:
        """What the run said. Output that cannot be read is never a pass (case H15)."""

    def raw(self, execution: Execution) -> bytes:
        """What it wrote, for the record."""
        return execution.stdout + execution.stderr

    def tool_command(self, tool: Tool, arguments: tuple[str, ...], base: Base, patch: Patch) -> Command:
        """A tool's command in the project's root."""
        mounts = {m.target: m for m in (*self.project.mounts, *tool.mounts)}
        return Command(
            argv=(*tool.argv, *arguments),
            base=base,
            patch=patch,
            cwd=self.project.root,
            env=self.project.env,
            mounts=tuple(mounts.values()),
            limits=limits(self.seconds).model_copy(update={"output_bytes": _REPORT_BYTES}),
        )

    def result(self, execution: Execution, findings: tuple[Finding, ...]) -> CheckResult:
        """Fail with findings, pass without."""
        return CheckResult(
            check=self.name,
            layer=self.layer,
            state=CheckState.FAIL if findings else CheckState.PASS,
            findings=findings,
            optional=self.not_run == "allow",
            exit_code=execution.exit_code,
            killed_by=execution.killed_by,
            isolation=execution.isolation.stamp,
            duration_ms=execution.duration_ms,
        )

    def unreadable(self, execution: Execution, said: str = "") -> CheckResult:
        """The tool did not say anything that can be believed, or `said` why it cannot."""
        ended = execution.killed_by or f"exit code {execution.exit_code}"
        last = [li for li in (decode(execution.stderr) + "\n" + decode(execution.stdout)).splitlines() if li.strip()]
        if execution.killed_by == "wall":
            ended = f"it took longer than {self.seconds:g} seconds"
        text = said or f"{self.name} gave no readable report ({ended})" + (f": {last[-1]}" if last else "")
        found = Finding(
            kind=FindingKind.NOT_RUN, check=self.name, message=text, error="unreadable",
            cause=f"unreadable|{coarse(text)}", detail=tuple(last[-8:]),
        )  # fmt: skip
        return self.result(execution, (found,)).model_copy(update={"state": CheckState.NOT_RUN, "note": text})

    def idle(self, note: str) -> CheckResult:
        """Nothing to look at."""
        return CheckResult(check=self.name, layer=self.layer, state=CheckState.PASS, note=note)


def new_only(result: CheckResult, known: tuple[Finding, ...]) -> CheckResult:
    """The result without what the unpatched tree already had, counted by kind and not by line."""
    left = Counter(_key(f) for f in known)
    fresh, old = [], []
    for finding in result.findings:
        if left[_key(finding)] > 0:
            left[_key(finding)] -= 1
            old.append(finding)
        else:
            fresh.append(finding)
    passed = result.state is CheckState.FAIL and not fresh
    state = CheckState.PASS if passed else result.state
    return result.model_copy(update={"findings": tuple(fresh), "known": tuple(old), "state": state})


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return (finding.kind, finding.path, finding.rule, coarse(finding.message))


def python_files(patch: Patch, suffixes: tuple[str, ...] = (".py", ".pyi")) -> tuple[str, ...]:
    """Files the patch writes (not deletes) that are Python."""
    return tuple(c.path for c in patch.changes if c.after is not None and c.path.endswith(suffixes))
