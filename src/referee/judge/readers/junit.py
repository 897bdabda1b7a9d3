"""JUnit XML, which most test runners write one way or another; there is no standard, only habit."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from referee.domain.finding import Finding
from referee.judge.normal import plain
from referee.judge.readers.reading import Output, Reading, Strange, TestOutcome, failure, settled
from referee.judge.readers.scripts import stack

_DECLARED = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_NODE = re.compile(r"cause: (?P<error>\w+)(?: \[\w+\])?: (?P<text>.*?)\n\s+at ", re.DOTALL)  # node:test wraps errors
_SIDES = re.compile(r"^ +actual: (?P<actual>.*),\n +expected: (?P<expected>.*),$", re.MULTILINE)
_DETAIL = 20  # lines of a failure's text that are kept


def junit(output: Output) -> Reading:
    """The document on standard output. A test's id is `file::suite::class::name`, of which some may be absent."""
    start = output.stdout.find("<")
    text = output.stdout[start:] if start >= 0 else ""
    if _DECLARED.search(text):
        raise Strange("the XML declares entities, which no test report needs")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - see above
    except ElementTree.ParseError as error:
        raise Strange(f"it wrote no whole XML document: {error}") from error
    if root.tag not in ("testsuites", "testsuite"):
        raise Strange(f"<{root.tag}> is not a JUnit report")
    found: list[Finding] = []
    outcomes: dict[str, TestOutcome] = {}
    _walk(output, root, (), (found, outcomes))
    return settled(output, found, outcomes, tuple(range(1, 256)))


def _walk(
    output: Output,
    node: ElementTree.Element,
    names: tuple[str, ...],
    into: tuple[list[Finding], dict[str, TestOutcome]],
) -> None:
    found, outcomes = into
    for child in node:
        if child.tag == "testsuite":
            _walk(output, child, (*names, child.get("name", "")), into)
        elif child.tag == "testcase":
            name = _name(output, child, names, outcomes)
            bad = next((e for e in child if e.tag in ("failure", "error")), None)
            if bad is not None:
                outcomes[name] = "failed"
                found.append(_failed(output, name, child, bad))
            else:
                outcomes[name] = "skipped" if child.find("skipped") is not None else "passed"


def _name(output: Output, case: ElementTree.Element, names: tuple[str, ...], taken: dict[str, TestOutcome]) -> str:
    file = case.get("file", "")
    parts = (output.relative(file) if file else "", *names, case.get("classname", ""), case.get("name", ""))
    made = name = "::".join(p for p in parts if p and p != "test")
    number = 1
    while made in taken:
        number += 1
        made = f"{name} #{number}"
    return made


def _failed(output: Output, name: str, case: ElementTree.Element, bad: ElementTree.Element) -> Finding:
    text = plain(bad.text or "").strip()
    within = _NODE.search(text)
    error, _, frames = stack(output, text)
    error = within["error"] if within else bad.get("type") or error
    message = _dedented(within["text"]) if within else bad.get("message") or text.split("\n", 1)[0] or "it failed"
    sides = _SIDES.search(text)
    more = {"expected": sides["expected"], "actual": sides["actual"]} if sides else {}
    path = frames[0].path if frames else output.relative(case.get("file", "")) if case.get("file") else ""
    line = frames[0].line if frames else int(case.get("line") or 0)
    lines = [li for li in text.splitlines() if li.strip()]
    said = () if within else tuple(li for li in lines if not li.lstrip().startswith("at "))
    if not frames and case.get("classname"):  # of a JVM's stack, what is of the test itself
        said += tuple(li.strip() for li in lines if li.lstrip().startswith(f"at {case.get('classname')}"))[:2]
    return failure(
        output, name, error, message, path=path, line=line, frames=frames, detail=said[:_DETAIL], **more
    )  # fmt: skip


def _dedented(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.splitlines() if line.strip())
