"""What came out of a suite's run: the runner's own report, by frames that the code under test cannot sign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.domain.finding import Finding
from referee.domain.value import Value
from referee.judge import stream
from referee.judge.normal import decode, plain
from referee.judge.readers import READERS, Output
from referee.judge.readers.reading import TestOutcome
from referee.judge.suites.suite import JAVASCRIPT, Suite
from referee.ports import Execution


class Heard(Value):
    """Outcomes and findings by id, told from the repository's root.

    `bitten` are the groups of tests whose added test failed, as it must; `unbitten` those where it did something else.
    `strange` says why nothing of it can be believed. `began` is whether the runner was started at all, `text` all it
    wrote.
    """

    outcomes: Mapping[str, TestOutcome] = {}
    findings: tuple[Finding, ...] = ()
    bitten: tuple[str, ...] = ()
    unbitten: tuple[str, ...] = ()
    strange: str = ""
    began: bool = False
    text: str = ""

    @property
    def tail(self) -> tuple[str, ...]:
        """Its last words, without events and documents."""
        return tuple(li for li in self.text.splitlines() if li.strip() and not li.startswith("{"))[-8:]


def heard(suite: Suite, check: str, root: str, execution: Execution) -> Heard:
    """Read one run."""
    try:
        frames = dict(stream.frames(execution.channel, execution.key))
    except (ValueError, TypeError) as wrong:
        return Heard(strange=f"its report is damaged ({wrong})")
    if "exit" not in frames:
        lines = [li for li in decode(execution.stderr).splitlines() if li.strip()]
        return Heard(strange=lines[-1] if lines else "it did not start")
    output = Output(
        check=check,
        root=f"{root}/{suite.home}" if suite.home else root,
        stdout=plain(frames.get("report", "") if suite.kind in JAVASCRIPT else frames["stdout"]),
        stderr=plain(frames["stderr"]),
        exit_code=frames["exit"],
    )
    reader = "jest" if suite.kind in JAVASCRIPT else suite.kind
    reading = READERS[reader](output)
    text = plain(f"{frames['stdout']}\n{frames['stderr']}")
    made = Heard(
        outcomes=reading.outcomes or {}, findings=reading.findings, strange=reading.strange, began=True, text=text
    )  # fmt: skip
    return _sorted(suite, made, frames["canary"])


def _sorted(suite: Suite, made: Heard, canary: Mapping[str, Any]) -> Heard:
    """Without the added tests, and told from the root."""
    added = {t: o for t, o in made.outcomes.items() if canary["name"] in t}
    said = {f.id for f in made.findings if canary["says"] in f.message or any(canary["says"] in d for d in f.detail)}
    failed = {t for t in added if added[t] == "failed" and t in said}
    groups = {suite.group(suite.at_root(t)) for t in failed}
    others = {suite.group(suite.at_root(t)) for t in set(added) - failed}
    counts: dict[str, int] = {}
    outcomes: dict[str, TestOutcome] = {}
    for test, outcome in made.outcomes.items():
        if test in added:
            continue
        name = suite.at_root(test)
        counts[name] = counts.get(name, 0) + 1
        outcomes[name if counts[name] == 1 else f"{name} #{counts[name]}"] = outcome
    findings = tuple(
        f.model_copy(update={"id": suite.at_root(f.id), "path": _placed(suite, f)})
        for f in made.findings
        if f.id not in added
    )
    return made.model_copy(
        update={
            "outcomes": outcomes,
            "findings": findings,
            "bitten": tuple(sorted(groups - others)),
            "unbitten": tuple(sorted(others)),
        }
    )


def _placed(suite: Suite, finding: Finding) -> str:
    """A finding's path from the root; Go names a test's file without its folder."""
    path = finding.path
    if suite.kind == "go-test" and path and "/" not in path:
        package = f"/{suite.group(finding.id)}"
        same = [f for f in suite.files if f.rpartition("/")[2] == path]
        inside = [f for f in same if "/" in f and package.endswith(f"/{f.rpartition('/')[0]}")]
        path = min(inside or [f for f in same if "/" not in f] or [path], key=lambda f: -len(f))
    return f"{suite.home}/{path}" if suite.home and path and not path.startswith("/") else path
