"""Test runners for JavaScript and TypeScript: jest and vitest, which share a report; node:test reports as JUnit XML."""

from __future__ import annotations

import re

from referee.domain.finding import Finding, Frame
from referee.judge.normal import plain
from referee.judge.readers.reading import Output, Reading, Strange, TestOutcome, document, failure, settled

_FRAME = re.compile(r"^\s*at (?:(?P<function>.+?) \()?(?P<path>(?:file://)?/[^():\n]+):(?P<line>\d+):\d+\)?$")
_ERROR = re.compile(r"^(?P<error>[A-Z]\w*(?:Error|Exception)?)(?: \[[A-Z_]+\])?: ")
_VALUES = re.compile(r"^Expected(?: value)?: (?P<expected>.*)\nReceived(?: value)?:\s+(?P<actual>.*)$", re.MULTILINE)
_SPOKEN = re.compile(
    r"^expected (?P<actual>.+?) to (?:be|equal|deeply equal|strictly equal) (?P<expected>.+?)(?: //.*)?$"
)
_STATES: dict[str, TestOutcome] = {
    "passed": "passed", "failed": "failed", "skipped": "skipped", "pending": "skipped", "todo": "skipped",
    "disabled": "skipped",
}  # fmt: skip
_FRAMES = 4


def jest(output: Output) -> Reading:
    """`jest --json` or `vitest run --reporter=json`. A test's id is `file > suite > name`, as vitest prints it."""
    told = document(output.stdout)
    found: list[Finding] = []
    outcomes: dict[str, TestOutcome] = {}
    for file in told["testResults"]:
        path = output.relative(file["name"])
        for test in file["assertionResults"]:
            name = _unique(" > ".join((path, *test["ancestorTitles"], test["title"])), outcomes)
            outcomes[name] = _STATES[test["status"]]
            if outcomes[name] == "failed":
                found.append(_failed(output, name, path, "\n".join(test["failureMessages"])))
        if file["status"] == "failed" and not any(f.path == path for f in found):
            text = plain(file["message"]) or "the file could not be run"
            found.append(
                failure(output, path, "collection", _tidy(text), path=path).model_copy(update={"phase": "collect"})
            )
    counted = sum(o == "failed" for o in outcomes.values())
    if told["numFailedTests"] != counted or told["numTotalTests"] != len(outcomes):
        raise Strange("its summary counts other tests than it lists")
    if told["success"] == bool(found):
        raise Strange("its summary and its list of failures disagree")
    return settled(output, found, outcomes)


def _unique(name: str, taken: dict[str, TestOutcome]) -> str:
    """Two tests may have the same name; the second is another test."""
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name} #{number}"
    return made


def _failed(output: Output, name: str, path: str, text: str) -> Finding:
    error, message, frames = stack(output, plain(text))
    values = _VALUES.search(message) or _SPOKEN.match(message.split("\n", 1)[0])
    expected, actual = (values["expected"], values["actual"]) if values else ("", "")
    return failure(
        output, name, error, message, path=path, line=frames[0].line if frames else 0, frames=frames,
        expected=expected, actual=actual,
    )  # fmt: skip


def stack(output: Output, text: str) -> tuple[str, str, tuple[Frame, ...]]:
    """Error type, message and the project's own frames of a V8 stack trace."""
    said, frames = [], []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is None:
            said += [] if line.lstrip().startswith("at ") else [line]
            continue
        path = output.relative(match["path"])
        if not path.startswith(("/", "../", "node_modules/")) and "/node_modules/" not in path:
            frames.append(Frame(path=path, line=int(match["line"]), function=match["function"] or ""))
    message = "\n".join(said).strip()
    named = _ERROR.match(message)
    error = named["error"] if named else "Error"
    return error, message[named.end() :] if named else message, tuple(frames[:_FRAMES])


def _tidy(text: str) -> str:
    lines = [li.strip() for li in text.splitlines() if li.strip() and not li.lstrip().startswith(("at ", "●"))]
    return "\n".join(lines[:12])
