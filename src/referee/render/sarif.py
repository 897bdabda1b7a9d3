"""The result of a check as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the code."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from referee.domain.report import CheckFinding, CheckReport
from referee.domain.verdict import CheckState
from referee.render.plain import plain

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_PRINT = "referee/1"  # the kind of fingerprint and its version
_NAMES = re.compile(r"[^\ud800-\udc7f\udd00-\udfff]*")  # as Python has names of files that are not UTF-8
_LONGEST = 2_000  # characters of one message


def sarif(report: CheckReport, version: str) -> str:
    """One document with one run of this `version` of referee.

    Ignored findings are suppressed results; a check that did not run is a notification. The fingerprint of
    a result stays when only lines move; equal ones in one file are numbered.
    """
    missing = {s.check for s in report.layers if s.state is CheckState.NOT_RUN}
    shown = [f for f in report.findings if f.check not in missing]
    everything = (*shown, *report.ignored)
    rules = list(dict.fromkeys(_rule(f) for f in everything))
    counted: Counter[str] = Counter()
    results = []
    for n, finding in enumerate(everything):
        counted[finding.fingerprint] += 1
        result = _result(finding, rules, counted[finding.fingerprint])
        if n >= len(shown):
            result["suppressions"] = [{"kind": "external", "justification": "ignored in referee's settings"}]
        results.append(result)
    driver = {"name": "referee", "version": version, "rules": [_described(r) for r in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [_invocation(report)],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(finding: CheckFinding) -> str:
    return plain(f"{finding.check}/{finding.rule or finding.error or 'failed'}")


def _described(rule: str) -> dict[str, Any]:
    check, _, name = rule.partition("/")
    return {"id": rule, "shortDescription": {"text": f"{name}, reported by {check}"}}


def _result(finding: CheckFinding, rules: Sequence[str], nth: int) -> dict[str, Any]:
    rule = _rule(finding)
    text = finding.message if finding.rule or not finding.id else f"{finding.id}: {finding.message}"
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error",
        "message": {"text": plain(text)[:_LONGEST] or rule},
        "locations": _locations(finding),
        "partialFingerprints": {_PRINT: f"{finding.fingerprint}:{nth}"},
    }


def _locations(finding: CheckFinding) -> list[dict[str, Any]]:
    path = finding.path or finding.id.partition("::")[0] * ("::" in finding.id)
    if not path:
        return []
    uri = quote(path, errors="surrogateescape" if _NAMES.fullmatch(path) else "replace")
    base = {} if path.startswith("/") else {"uriBaseId": _ROOT}
    place: dict[str, Any] = {"artifactLocation": {"uri": uri, **base}}
    if finding.line > 0:
        place["region"] = {"startLine": finding.line}
    return [{"physicalLocation": place}]


def _invocation(report: CheckReport) -> dict[str, Any]:
    """Whether every check ran; those that could not say why."""
    told: list[tuple[str, str]] = []
    for state in report.layers:
        if state.state is CheckState.NOT_RUN:
            words = f"{state.layer.value} {state.check} did not run: {state.note or 'no reason was given'}"
            told.append(("warning" if state.optional else "error", words))
    return {
        "executionSuccessful": all(level != "error" for level, _ in told),
        "exitCode": 0 if report.passed else 1,
        "toolExecutionNotifications": [{"level": level, "message": {"text": plain(words)}} for level, words in told],
    }
