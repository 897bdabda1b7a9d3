"""The result of a check as JUnit XML, which every CI server shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from referee.domain.report import CheckFinding, CheckReport, LayerState
from referee.domain.verdict import CheckState
from referee.render.plain import line, plain

_LONGEST = 8_000  # characters of one failure
_COUNTS = ("failure", "error", "skipped")
_PLURALS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit(report: CheckReport) -> str:
    """A suite for each check; its cases are its tests, else its findings, else the check itself."""
    root = ElementTree.Element("testsuites", name="referee")
    for state in report.layers:
        found = [f for f in report.findings if f.check == state.check]
        root.append(_suite(state, found))
    _count(root, root.iter("testcase"))
    root.set("time", f"{sum(s.duration_ms for s in report.layers) / 1000:.3f}")
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(state: LayerState, found: Sequence[CheckFinding]) -> ElementTree.Element:
    name = f"{state.layer.value} {plain(state.check)}"
    suite = ElementTree.Element("testsuite", name=name, time=f"{state.duration_ms / 1000:.3f}")
    for test in state.passing:
        _case(suite, *_named(test))
    by_id: dict[str, list[CheckFinding]] = {}
    for finding in found:
        by_id.setdefault(finding.id, []).append(finding)
    for test in state.failing:
        case = _case(suite, *_named(test))
        if test in by_id:
            _fail(case, by_id.pop(test))
        else:
            _add(case, "skipped", "it failed, and is known to: not counted")
    missing = state.state is CheckState.NOT_RUN
    for name, group in by_id.items():
        case = _case(suite, plain(state.check), plain(name or state.check))
        _fail(case, group, "error" if missing or state.passing or state.failing else "failure")
    if not len(suite):
        case = _case(suite, plain(state.check), plain(state.check))
        if missing:
            _add(case, "skipped" if state.optional else "error", state.note or "it did not run", "not run")
        elif state.state is CheckState.FAIL:
            _add(case, "failure", state.note or "it failed")
    _count(suite, suite)
    return suite


def _named(test: str) -> tuple[str, str]:
    """`tests/test_a.py::TestB::test_c[1::2]` as class and name, the way pytest's own report has it."""
    plainly, bracket, parameters = plain(test).partition("[")
    place, _, name = plainly.rpartition("::")
    file, _, inner = place.partition("::")
    dotted = file.removesuffix(".py").replace("/", ".") if file.endswith(".py") else file
    return ".".join(p for p in (dotted, *inner.split("::")) if p), name + bracket + parameters


def _case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=group, name=line(name))


def _fail(case: ElementTree.Element, found: Sequence[CheckFinding], kind: str = "failure") -> None:
    first = found[0]
    if first.path:
        case.set("file", plain(first.path))
    if first.path and first.line:
        case.set("line", str(first.line))
    _add(case, kind, "\n\n".join(map(_words, found)), first.error or first.rule, first.message)


def _words(finding: CheckFinding) -> str:
    place = f"{finding.path}:{finding.line}: " if finding.path and finding.line else ""
    told = [f"{place}{finding.message}"]
    if finding.actual or finding.expected:
        told.append(f"left  {finding.actual}\nright {finding.expected}")
    return "\n".join((*told, *finding.detail))


def _add(case: ElementTree.Element, tag: str, text: str, kind: str = "", message: str = "") -> None:
    told = ElementTree.SubElement(case, tag, message=line(message or text, 300))
    if kind:
        told.set("type", plain(kind))
    told.text = plain(text)[:_LONGEST]


def _count(element: ElementTree.Element, cases: Iterable[ElementTree.Element]) -> None:
    listed = list(cases)
    element.set("tests", str(len(listed)))
    for tag in _COUNTS:
        element.set(_PLURALS[tag], str(sum(c.find(tag) is not None for c in listed)))
