"""Compilers, type checkers and formatters: tsc, pyright, cargo check, cargo clippy, rustfmt, go vet, gofmt."""

from __future__ import annotations

import re
from typing import Any

from referee.domain.finding import Finding
from referee.judge.readers.reading import Output, Reading, Strange, agreed, diagnostic, document, lines_of_json

_TSC = re.compile(r"^(?:(?P<path>[^\s(][^(\n]*)\((?P<line>\d+),\d+\): )?error (?P<rule>TS\d+): (?P<text>.*)$")
_GO = re.compile(r"^(?:vet: )?(?P<path>[^\s:][^:\n]*\.go):(?P<line>\d+)(?::\d+)?: (?P<text>.*)$")

_RUSTFMT = re.compile(r"^Diff in (?P<path>.+?)(?::| at line )(?P<line>\d+):?$", re.MULTILINE)  # by version
_RUSTC = re.compile(r"^error(?:\[\w+\])?: (?P<text>.*)\n *--> (?P<path>.+):(?P<line>\d+):\d+$", re.MULTILINE)


def tsc(output: Output) -> Reading:
    """`tsc --pretty false`: one line per error, its explanation indented below it."""
    found: list[Finding] = []
    for line in output.stdout.splitlines():
        match = _TSC.match(line)
        if match:
            found.append(
                diagnostic(
                    output, match["path"] or "tsconfig.json", int(match["line"] or 0), match["rule"], match["text"]
                )
            )
        elif found and line.startswith("  "):
            found[-1] = found[-1].model_copy(update={"detail": (*found[-1].detail, line.strip())})
        elif line.strip():
            raise Strange(f"this line is not tsc's: {line[:120]}")
    return agreed(output, found, (1, 2))


def pyright(output: Output) -> Reading:
    """`pyright --outputjson`; warnings do not fail it."""
    told = document(output.stdout)
    errors = [d for d in told["generalDiagnostics"] if d["severity"] == "error"]
    if told["summary"]["errorCount"] != len(errors):
        raise Strange("its summary counts other errors than it lists")
    found = [
        diagnostic(
            output,
            d["file"],
            d.get("range", {}).get("start", {}).get("line", -1) + 1,
            d.get("rule", "error"),
            d["message"],
        )
        for d in errors
    ]
    return agreed(output, found)


def cargo(output: Output) -> Reading:
    """`cargo check` or `cargo clippy` with `--message-format=json`; warnings count only where they are denied."""
    told = lines_of_json(output.stdout)
    ends = [m["success"] for m in told if m["reason"] == "build-finished"]
    if len(ends) != 1:
        raise Strange("cargo did not say how the build ended" + _last(output.stderr))
    errors = [m["message"] for m in told if m["reason"] == "compiler-message" and m["message"]["level"] == "error"]
    found = [_rustc(output, e) for e in errors if e["spans"] or e["code"]]
    if bool(found) == ends[0]:
        raise Strange("the build failed, but no error has a place" if not found else "errors in a build that succeeded")
    return agreed(output, found, (101,))


def _rustc(output: Output, message: Any) -> Finding:
    span = next((s for s in message["spans"] if s["is_primary"]), None) or {"file_name": "", "line_start": 0}
    rule = (message["code"] or {}).get("code", "error")
    found = diagnostic(output, span["file_name"], span["line_start"], rule, message["message"])
    label = span.get("label")
    notes = [c["message"] for c in message["children"] if c["level"] in ("help", "note")]
    return found.model_copy(update={"detail": tuple(t for t in (label, *notes) if t)[:4]})


def go_vet(output: Output) -> Reading:
    """`go vet`: places and texts on standard error, under a heading per package."""
    found: list[Finding] = []
    for line in output.stderr.splitlines():
        match = _GO.match(line)
        if match:
            found.append(diagnostic(output, match["path"], int(match["line"]), "vet", match["text"]))
        elif line.strip() and not line.startswith(("#", "\t", "exit status")):
            raise Strange(f"this line is not go vet's: {line[:120]}")
    return agreed(output, found, (1, 2))


def gofmt(output: Output) -> Reading:
    """`gofmt -l` or `gofmt -d`: the files it would change; it ends with 0 either way, and with 2 on bad syntax."""
    found = []
    for line in output.stderr.splitlines():
        match = _GO.match(line)
        if match is None:
            raise Strange(f"this line is not gofmt's: {line[:120]}")
        found.append(diagnostic(output, match["path"], int(match["line"]), "syntax", match["text"]))
    names = re.findall(r"^diff (?:-u )?(\S+?)(?:\.orig)? \S+$", output.stdout, re.MULTILINE)
    if not names:
        names = output.stdout.split("\n")
    found += [diagnostic(output, n, 0, "format", "gofmt would change this file") for n in names if n.strip()]
    if output.exit_code not in (0, 1, 2) or (output.exit_code and not found):
        raise Strange(f"it ended with exit code {output.exit_code} and named no file")
    return Reading(findings=tuple(found))


def rustfmt(output: Output) -> Reading:
    """`cargo fmt --check` or `rustfmt --check`: each place it would change, and errors of syntax with theirs."""
    said = "rustfmt would change this"
    found = [diagnostic(output, m["path"], int(m["line"]), "format", said) for m in _RUSTFMT.finditer(output.stdout)]
    found += [
        diagnostic(output, m["path"], int(m["line"]), "syntax", m["text"]) for m in _RUSTC.finditer(output.stderr)
    ]
    return agreed(output, found)


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""
