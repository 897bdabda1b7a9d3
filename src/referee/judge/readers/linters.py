"""Linters with a JSON report: eslint, biome, and any tool that writes SARIF (OASIS SARIF 2.1.0)."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from referee.judge.readers.reading import Output, Reading, Strange, agreed, diagnostic, document

_ERROR = 2  # eslint's severity; 1 is a warning, which does not fail it


def eslint(output: Output) -> Reading:
    """`eslint --format json`."""
    files = document(output.stdout)
    if not isinstance(files, list):
        raise Strange("its report is not a list of files")
    found = [
        diagnostic(output, f["filePath"], m.get("line", 0), m["ruleId"] or "syntax", m["message"])
        for f in files
        for m in f["messages"]
        if m["severity"] == _ERROR
    ]
    warned = any(m["severity"] != _ERROR for f in files for m in f["messages"])
    if output.exit_code == 1 and not found and warned:  # --max-warnings
        found = [
            diagnostic(output, f["filePath"], m.get("line", 0), m["ruleId"] or "warning", m["message"])
            for f in files
            for m in f["messages"]
        ]
    return agreed(output, found)


def biome(output: Output) -> Reading:
    """`biome check --reporter=json` (also `lint`, `format`, `ci`); warnings do not fail it."""
    told = document(output.stdout)
    errors = [d for d in told["diagnostics"] if d["severity"] in ("error", "fatal")]
    if told["summary"]["errors"] > len(errors) and not told["summary"].get("diagnosticsNotPrinted"):
        raise Strange("its summary counts more errors than it lists")
    found = [
        diagnostic(
            output, d["location"]["path"], d["location"].get("start", {}).get("line", 0), d["category"], d["message"]
        )
        for d in errors
    ]
    return agreed(output, found)


def sarif(output: Output) -> Reading:
    """A SARIF log on standard output. Results that are suppressed, or neither error nor warning, are left out."""
    told = document(output.stdout)
    if not str(told["version"]).startswith("2."):
        raise Strange(f"SARIF version {told['version']} is not known")
    found = []
    for run in told["runs"]:
        levels = _levels(run)
        for result in run.get("results") or ():
            level = result.get("level") or levels.get(result.get("ruleId", ""), "warning")
            if level not in ("error", "warning") or result.get("suppressions") or result.get("kind", "fail") != "fail":
                continue
            place = _place(result)
            rule = result.get("ruleId") or "result"
            found.append(diagnostic(output, place[0], place[1], rule, _message(run, result)))
    if output.exit_code is None or (output.exit_code != 0 and not found):
        raise Strange(f"it ended with exit code {output.exit_code} and reported nothing")
    return Reading(findings=tuple(found))


def _levels(run: Any) -> dict[str, str]:
    rules = run["tool"]["driver"].get("rules", ())
    return {r["id"]: r.get("defaultConfiguration", {}).get("level", "warning") for r in rules}


def _place(result: Any) -> tuple[str, int]:
    for location in result.get("locations") or ():
        physical = location.get("physicalLocation", {})
        uri = physical.get("artifactLocation", {}).get("uri", "")
        return unquote(uri), int(physical.get("region", {}).get("startLine", 0))
    return "", 0


def _message(run: Any, result: Any) -> str:
    said = result["message"]
    if "text" in said:
        return str(said["text"])
    rules = {r["id"]: r for r in run["tool"]["driver"].get("rules", ())}
    text = rules[result["ruleId"]]["messageStrings"][said["id"]]["text"]
    for n, argument in enumerate(said.get("arguments", ())):
        text = text.replace(f"{{{n}}}", str(argument))
    return str(text)
