"""Python's own tools that are not the judge's: unittest and coverage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.domain.finding import Finding, Frame
from referee.judge.readers.reading import Output, Reading, Strange, TestOutcome, diagnostic, document, failure, settled

_TEST = re.compile(r"^(?P<name>\w+) \((?P<where>[\w.<>]+)\)(?P<sub> [(\[].*)? \.\.\. (?P<how>.*)$")
_HEAD = re.compile(r"^(?P<kind>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<name>\S+) \((?P<where>[^)]+)\)(?P<sub>.*)$")
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_FRAME = re.compile(r'^  File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$')
_RAISED = re.compile(r"^(?P<error>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$")
_SIDES = re.compile(r"^(?P<actual>.+?) != (?P<expected>.+?)(?: : .*)?$")
_HOW: tuple[tuple[str, TestOutcome], ...] = (
    ("ok", "passed"), ("FAIL", "failed"), ("ERROR", "failed"), ("skipped", "skipped"), ("expected failure", "skipped"),
    ("unexpected success", "failed"),
)  # fmt: skip
_LINE, _LONGER = "-" * 70, "=" * 70
_RULES = (1, 5)  # unittest's exit code for "no tests ran" is 5 since Python 3.12
_BELOW = 2  # coverage's exit code when the total is below what is asked


def unittest(output: Output) -> Reading:
    """`python -m unittest -v`, which writes to standard error."""
    ran = _RAN.search(output.stderr)
    if ran is None:
        raise Strange("it did not say how many tests it ran")
    if int(ran[1]) == 0:
        raise Strange("it ran no test")
    found = list(_failures(output))
    outcomes = _outcomes(output.stderr)
    for finding in found:
        outcomes[finding.id] = "failed"
    return settled(output, found, outcomes, _RULES)


def _outcomes(text: str) -> dict[str, TestOutcome]:
    seen: dict[str, TestOutcome] = {}
    for line in text.split(_LONGER, 1)[0].splitlines():
        match = _TEST.match(line.strip())
        if match and not match["sub"]:
            how = next((o for word, o in _HOW if match["how"].startswith(word)), None)
            if how is not None:
                seen[_id(match["where"], match["name"])] = how
    return seen


def _id(where: str, name: str) -> str:
    """Since Python 3.11 the place ends with the test's name."""
    return where if where.endswith(f".{name}") else f"{where}.{name}"


def _failures(output: Output) -> Iterator[Finding]:
    for part in output.stderr.split(_LONGER)[1:]:
        head, _, rest = part.strip().partition("\n")
        match = _HEAD.match(head)
        if match is None:
            raise Strange(f"this is not a failure of unittest's: {head[:100]}")
        body = rest.removeprefix(_LINE).split("\n" + _LINE, 1)[0].strip()
        yield _failed(output, _id(match["where"], match["name"]), match["sub"].strip(), body)


def _failed(output: Output, name: str, sub: str, body: str) -> Finding:
    frames, last = [], ""
    for line in body.splitlines():
        match = _FRAME.match(line)
        if match and not output.relative(match["path"]).startswith(("/", "../")):
            path = output.relative(match["path"])
            frames.append(Frame(path=path, line=int(match["line"]), function=match["function"]))
        elif line and not line.startswith((" ", "Traceback")) and not last:
            last = line
    raised = _RAISED.match(last)
    error, text = (raised["error"], raised["text"] or "") if raised else ("failed", last)
    sides = _SIDES.match(text)
    where = {"path": frames[-1].path, "line": frames[-1].line} if frames else {}
    return failure(
        output, name, error, text, frames=tuple(frames[-4:]), detail=(sub,) if sub else (),
        expected=sides["expected"] if sides else "", actual=sides["actual"] if sides else "", **where,
    )  # fmt: skip


def coverage(output: Output) -> Reading:
    """`coverage json -o -` with `--fail-under`: the files with lines that no test ran, if the total is too low."""
    told = document(output.stdout)
    total = float(told["totals"]["percent_covered"])
    if output.exit_code == 0:
        return Reading()
    if output.exit_code != _BELOW:
        raise Strange(f"it ended with exit code {output.exit_code}")
    found = []
    for path, file in sorted(told["files"].items()):
        missing = file["missing_lines"]
        if missing:
            text = f"{len(missing)} lines are not covered (total {total:.0f} %)"
            found.append(diagnostic(output, path, missing[0], "coverage", text))
    if not found:
        raise Strange("the total is too low, but no line is missing")
    return Reading(findings=tuple(found))
