"""One failure as every tool would report it: a text with a value and what moves from run to run, at a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.verdict import CheckResult
from referee.judge import findings
from referee.judge.checks import CommandCheck
from referee.judge.project import Project, detect
from referee.ports import Interpreter
from referee.testing import ended

PROJECT: Project = detect(
    "/repo", ["a.py"], {"a.py": b""}.get, interpreter=Interpreter(executable="/p", prefix="/", version="3")
)
# reader -> (text, line) -> standard output, standard error, exit code
Write = Callable[[str, int], tuple[str, str, int]]


def _junit(text: str, line: int) -> tuple[str, str, int]:
    failure = f'<failure type="AssertionError" message={quoteattr(text)}>{escape(text)}</failure>'
    case = f'<testcase classname="t" name="a" file="t.py" line="{line}" time="{line / 7}">{failure}</testcase>'
    return f'<testsuite name="s" time="{line}">{case}</testsuite>', "", 1


def _jest(text: str, line: int) -> tuple[str, str, int]:
    said = f"Error: {text}\n    at Object.x (/repo/a.test.js:{line}:9)\n    at y (/repo/node_modules/z.js:{line}:1)"
    test = {"ancestorTitles": ["s"], "title": "a", "status": "failed", "failureMessages": [said], "duration": line}
    file = {"name": "/repo/a.test.js", "status": "failed", "message": said, "assertionResults": [test]}
    counts = {"numFailedTests": 1, "numTotalTests": 1, "success": False, "startTime": line}
    return json.dumps({**counts, "testResults": [file]}), "", 1


def _cargo_test(text: str, line: int) -> tuple[str, str, int]:
    out = (
        f"running 1 test\ntest t::a ... FAILED\n\nfailures:\n\n---- t::a stdout ----\n"
        f"thread 't::a' ({line}) panicked at src/lib.rs:{line}:5:\n{text}\n\n\nfailures:\n    t::a\n\n"
        f"test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.{line}s\n"
    )
    return out, f"     Running unittests src/lib.rs (target/debug/deps/x-{line:016x})\n", 101


def _go_test(text: str, line: int) -> tuple[str, str, int]:
    def event(action: str, **more: object) -> str:
        return json.dumps({"Time": f"2026-01-01T00:00:{line % 60:02}Z", "Action": action, "Package": "m/p", **more})

    said = event("output", Test="TestA", Output=f"    a_test.go:{line}: {text}\n")
    ends = event("fail", Test="TestA", Elapsed=line), event("fail", Elapsed=line)
    return "\n".join((event("run", Test="TestA"), said, *ends)), "", 1


def _unittest(text: str, line: int) -> tuple[str, str, int]:
    heads = f"test_a (t.T.test_a) ... FAIL\n\n{'=' * 70}\nFAIL: test_a (t.T.test_a)\n{'-' * 70}\n"
    place = f'  File "/repo/t.py", line {line}, in test_a'
    trace = f"Traceback (most recent call last):\n{place}\n    x\nAssertionError: {text}\n"
    return "", f"{heads}{trace}\n{'-' * 70}\nRan 1 test in 0.{line}s\n\nFAILED (failures=1)\n", 1


def _sarif(text: str, line: int) -> tuple[str, str, int]:
    place = {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": line}}
    result = {"ruleId": "R", "level": "error", "message": {"text": text}, "locations": [{"physicalLocation": place}]}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [result]}]}), "", 1


def _cargo(text: str, line: int) -> tuple[str, str, int]:
    span = {"is_primary": True, "file_name": "src/lib.rs", "line_start": line, "label": None}
    message = {"level": "error", "message": text, "code": {"code": "E1"}, "spans": [span], "children": []}
    rows = {"reason": "compiler-message", "message": message}, {"reason": "build-finished", "success": False}
    return "\n".join(map(json.dumps, rows)), "", 101


def _pyright(text: str, line: int) -> tuple[str, str, int]:
    found = {
        "file": "/repo/a.py",
        "severity": "error",
        "message": text,
        "rule": "r",
        "range": {"start": {"line": line}},
    }
    return json.dumps({"generalDiagnostics": [found], "summary": {"errorCount": 1, "timeInSec": line}}), "", 1


def _eslint(text: str, line: int) -> tuple[str, str, int]:
    message = {"ruleId": "r", "severity": 2, "message": text, "line": line}
    return json.dumps([{"filePath": "/repo/a.js", "messages": [message]}]), "", 1


def _biome(text: str, line: int) -> tuple[str, str, int]:
    place = {"path": "a.js", "start": {"line": line}}
    found = {"severity": "error", "message": text, "category": "r", "location": place}
    return json.dumps({"summary": {"errors": 1, "duration": line}, "diagnostics": [found]}), "", 1


def _ruff(text: str, line: int) -> tuple[str, str, int]:
    return json.dumps([{"filename": "/repo/a.py", "location": {"row": line}, "code": "X1", "message": text}]), "", 1


WRITERS: Mapping[str, Write] = {
    "junit": _junit, "node-test": _junit, "jest": _jest, "vitest": _jest, "cargo-test": _cargo_test,
    "go-test": _go_test, "unittest": _unittest, "sarif": _sarif, "cargo": _cargo, "pyright": _pyright,
    "eslint": _eslint, "biome": _biome, "ruff": _ruff,
    "tsc": lambda text, line: (f"a.ts({line},3): error TS1: {text}\n", "", 2),
    "mypy": lambda text, line: (f"a.py:{line}: error: {text}  [misc]\n", "", 1),
    "go-vet": lambda text, line: ("", f"a.go:{line}:2: {text}\n", 1),
    "lines": lambda text, line: (f"a.c:{line}:2: {text}\n", "", 1),
    "exit": lambda text, line: (f"step {'#' * 9} 100%\nerror at a.c:{line}: {text}\ndone in 0.{line} s\n", "", 2),
}  # fmt: skip


def read(reader: str, text: str, line: int) -> CheckResult:
    """What the check makes of a failure that says `text` at `line`."""
    out, err, code = WRITERS[reader](text, line)
    check = CommandCheck(name="c", layer=Layer.TARGET, project=PROJECT, run=("tool",), reader=reader)
    return check.read(ended(code, out.encode(), err.encode()))


def raised(text: str, line: int, error: str = "ValueError") -> Finding:
    """The same as an exception that the judge's own plugin saw."""
    frames = [["a.py", line, "f", "x = 1", 1]]
    record = {"type": error, "message": text, "frames": frames, "library": None}
    return findings.of_failure("c", {"id": "t.py::t", "when": "call", "error": record, "output": {"stdout": text}})


def compared(left: str, right: str, line: int) -> Finding:
    """The same as a comparison that the judge's own plugin saw."""
    error = {"type": "AssertionError", "message": "assert", "frames": [["t.py", line, "t", "assert a == b", 1]]}
    values = {"op": "==", "left": left, "right": right, "difference": [f"value: {left} != {right}"]}
    return findings.of_failure("c", {"id": "t.py::t", "when": "call", "error": error, "compared": values})
