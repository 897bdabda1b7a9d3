"""go test -json: one event per line."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from referee.domain.finding import Finding, Frame
from referee.judge.readers.reading import (
    Output,
    Reading,
    Strange,
    TestOutcome,
    diagnostic,
    failure,
    lines_of_json,
    settled,
)

_ENDS: dict[str, TestOutcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_SAID = re.compile(r"^\s+(?P<file>[\w.-]+\.go):(?P<line>\d+): (?P<text>.*)$")
_PANIC = re.compile(r"^(?:panic|fatal error): (?P<text>.*?)(?: \[recovered\])?$")
_FRAME = re.compile(r"^\t(?P<path>/.*\.go):(?P<line>\d+)")
_BUILD = re.compile(r"^(?P<path>[^\s:]+\.go):(?P<line>\d+):\d+: (?P<text>.*)$")
_GOT_WANT = re.compile(r"(?:= |got:? )(?P<actual>.+?)[,;]? (?:want|expected):? (?P<expected>.+)$")
_NOISE = ("=== ", "--- ", "PASS", "FAIL", "exit status", "ok  \t")


def go_test(output: Output) -> Reading:
    """`go test -json`. A test's id is `package.Test/subtest`."""
    said: dict[str, list[str]] = defaultdict(list)
    outcomes: dict[str, TestOutcome] = {}
    packages: dict[str, str] = {}
    begun: set[str] = set()
    for event in lines_of_json(output.stdout):
        name = _name(event)
        if event["Action"] == "output":
            said[name].append(event["Output"].rstrip("\n"))
        elif event["Action"] == "run":
            begun.add(name)
        elif event["Action"] in _ENDS:
            if "Test" in event:
                outcomes[name] = _ENDS[event["Action"]]
            else:
                packages[name] = event["Action"]
    if begun - set(outcomes):
        raise Strange(f"{sorted(begun - set(outcomes))[0]} began and never ended")
    found = _broken(output)
    if not packages and not found:
        raise Strange("no package was tested")
    # A test fails with its subtest; the subtest says why.
    deepest = [n for n, o in outcomes.items() if o == "failed" and not _has_failed_child(n, outcomes)]
    found += [_failed(output, name, said[name]) for name in deepest]
    for package, how in packages.items():
        if how == "fail" and not any(f.id.startswith(package) for f in found) and not _broken(output):
            text = "\n".join(li for li in said[package] if not li.startswith(_NOISE)) or "the package failed"
            found.append(failure(output, package, "failed", text))
    return settled(output, found, outcomes, (1, 2))


def _name(event: Any) -> str:
    test = event.get("Test")
    package = str(event.get("Package") or event.get("ImportPath", ""))
    return f"{package}.{test}" if test else package


def _has_failed_child(name: str, outcomes: dict[str, TestOutcome]) -> bool:
    return any(n.startswith(name + "/") and o == "failed" for n, o in outcomes.items())


def _broken(output: Output) -> list[Finding]:
    """What the compiler said: on standard error before Go 1.24, among the events since."""
    events = [e["Output"] for e in lines_of_json(output.stdout) if e["Action"] == "build-output"]
    lines = (*output.stderr.splitlines(), *(line.rstrip("\n") for line in events))
    return [
        diagnostic(output, m["path"], int(m["line"]), "build", m["text"]) for line in lines if (m := _BUILD.match(line))
    ]


def _failed(output: Output, name: str, lines: list[str]) -> Finding:
    panic = next((m for line in lines if (m := _PANIC.match(line.strip()))), None)
    if panic:
        own = [
            m for line in lines if (m := _FRAME.match(line)) and not output.relative(m["path"]).startswith(("/", "../"))
        ]
        frames = tuple(Frame(path=output.relative(m["path"]), line=int(m["line"]), function="") for m in own[:4])
        where = {"path": frames[0].path, "line": frames[0].line} if frames else {}
        return failure(output, name, "panic", panic["text"], frames=frames, **where)
    told = [m for line in lines if (m := _SAID.match(line))]
    text = "\n".join(m["text"] for m in told) or "\n".join(li for li in lines if not li.lstrip().startswith(_NOISE))
    values = _GOT_WANT.search(text.split("\n", 1)[0])
    return failure(
        output, name, "failed", text or "it failed", path=told[0]["file"] if told else "",
        line=int(told[0]["line"]) if told else 0,
        expected=values["expected"] if values else "", actual=values["actual"] if values else "",
    )  # fmt: skip
