"""An author without opinions: the linter's own fixes and the formatter, before anything that costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.actions.execute import Execute
from referee.authors.command.workshop import Errand, bound, workshop
from referee.domain.brief import Brief, Offer
from referee.domain.changes import Work, reported
from referee.domain.errors import Rejected
from referee.domain.finding import Finding
from referee.domain.protection import Protection
from referee.judge import Bench, Tool
from referee.kernel.run import Run

_SECONDS = 60.0
# Both, because a fix may need the formatter and a formatter mends no rule; by the project's own configuration.
_SCRIPT = 'ruff=$1; shift; "$ruff" check -q --no-cache --fix --exit-zero -- "$@"; "$ruff" format -q --no-cache -- "$@"'
_CHECK_ONLY = _SCRIPT.partition('; "$ruff" format')[0]


class MechanicalAuthor:
    """Lets ruff mend what ruff objects to. `last` says that after it nobody of its kind is asked again."""

    def __init__(self, bench: Bench, protection: Protection, last: bool) -> None:
        self._bench, self._protection, self._last = bench, protection, last

    @property
    def name(self) -> str:
        """`mechanical`."""
        return "mechanical"

    def propose(self, run: Run, brief: Brief) -> Offer:
        """What ruff changes in the files that it objects to."""
        tool = self._bench.project.tools.get("ruff")
        paths = _places([f for f in brief.findings if by_ruff(f)], run.paths(brief.base))
        if tool is None or not paths:
            return self._nothing("there is nothing that ruff could mend")
        try:
            done = mended(run, self._bench, self._protection, (brief.base, tool), paths)
        except Rejected as refused:
            return self._nothing(str(refused))
        if not done.patch.changes:
            return self._nothing(f"ruff mends none of it {done.ended}".strip())
        return Offer(author=self.name, patch=done.patch, note="ruff's own fixes and format")

    def _nothing(self, note: str) -> Offer:
        return Offer(author=self.name, exhausted=self._last, note=note, paid=True)


def mended(run: Run, bench: Bench, protection: Protection, on: tuple[str, Tool], paths: Sequence[str]) -> Work:
    """What ruff's own fixes, and its formatter where the project has it, change of `paths` in a tree.

    `on` is the tree and the program. Raises `Rejected` if what comes back is too much for a proposal.
    """
    tree, tool = on
    script = _SCRIPT if "ruff-format" in bench.project.uses else _CHECK_ONLY
    argv = ("/bin/sh", "-c", script, "sh", *tool.argv, *paths)
    execution = run.perform(Execute(command=workshop(run, bench, tree, Errand(argv=argv, seconds=_SECONDS))))
    return reported(execution.channel, bound(run, tree, protection))


def _places(findings: Iterable[Finding], paths: Sequence[str]) -> list[str]:
    """The files that are objected to; where the output does not name them, those that the command names."""
    found: set[str] = set()
    for finding in findings:
        if finding.path.endswith((".py", ".pyi")):
            found.add(finding.path)
        else:
            words = [w.removeprefix("./").rstrip("/") for w in finding.check.split()[1:]]
            found |= {w for w in words if w in paths or any(p.startswith(f"{w}/") for p in paths)}
    return sorted(found)


def by_ruff(finding: Finding) -> bool:
    """Whether ruff objects, be it as a check of the judge's or as a command that was named as a target."""
    return finding.check in ("ruff", "ruff-format") or finding.check.split()[:1] == ["ruff"]


def mendable(findings: Iterable[Finding]) -> bool:
    """Whether all that stands in the way is ruff's."""
    found = tuple(findings)
    return bool(found) and all(by_ruff(f) for f in found)
