"""cargo test: libtest's text, the only report of it that is stable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.domain.finding import Finding, Frame
from referee.judge.readers.reading import Output, Reading, Strange, TestOutcome, diagnostic, failure, settled

_RUNNING = re.compile(r"^\s+(?:Running (?P<unit>unittests )?(?P<path>\S+) \(|Doc-tests (?P<doc>\S+))", re.MULTILINE)
_COUNT = re.compile(r"^running (\d+) tests?$")
_TEST = re.compile(r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored.*)$")
_RESULT = re.compile(r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;")
_SECTION = re.compile(r"^---- (?P<name>.+?) stdout ----$")
_PANIC = re.compile(r"^thread '.*?'(?: \(\d+\))? panicked at (?P<path>[^:\n]+):(?P<line>\d+):\d+:$")
_SIDES = re.compile(r"^\s*left: (?P<left>.*)\n\s*right: (?P<right>.*)$", re.MULTILINE)
_ERROR = re.compile(
    r"^error(?:\[(?P<rule>E\d+)\])?: (?P<text>.*)\n\s+--> (?P<path>[^:\n]+):(?P<line>\d+):\d+", re.MULTILINE
)
_FAILED = 101


def cargo_test(output: Output) -> Reading:
    """`cargo test` (with `--no-fail-fast`, or what follows the first failing program did not run)."""
    errors = [diagnostic(output, m["path"], int(m["line"]), m["rule"] or "error", m["text"]) for m in _errors(output)]
    if errors and output.exit_code == _FAILED and "could not compile" in output.stderr:
        return Reading(findings=tuple(errors), outcomes={})
    programs = [m["doc"] or m["path"] for m in _RUNNING.finditer(output.stderr)]
    found: list[Finding] = []
    outcomes: dict[str, TestOutcome] = {}
    blocks = list(_blocks(output.stdout))
    if len(blocks) != len(programs):
        raise Strange(f"{len(programs)} test programs started, {len(blocks)} reported")
    for program, lines in zip(programs, blocks, strict=True):
        _block(output, program, lines, (found, outcomes))
    return settled(output, found, outcomes, (_FAILED,))


def _errors(output: Output) -> Iterator[re.Match[str]]:
    return _ERROR.finditer(output.stderr)


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines of each test program, from `running n tests` to the next."""
    block: list[str] | None = None
    for line in text.splitlines():
        if _COUNT.match(line):
            if block is not None:
                yield block
            block = []
        if block is not None:
            block.append(line)
    if block is not None:
        yield block


def _block(output: Output, program: str, lines: list[str], into: tuple[list[Finding], dict[str, TestOutcome]]) -> None:
    found, outcomes = into
    said = _COUNT.match(lines[0])
    results = [m for line in lines if (m := _RESULT.match(line))]
    seen: dict[str, TestOutcome] = {}
    for line in lines:
        match = _TEST.match(line)
        if match:
            how: TestOutcome = {"ok": "passed", "FAILED": "failed"}.get(match["how"], "skipped")  # type: ignore[assignment]
            seen[f"{program}::{match['name']}"] = how
    counts = tuple(sum(o == k for o in seen.values()) for k in ("passed", "failed", "skipped"))
    if said is None or len(results) != 1 or int(said[1]) != len(seen):
        raise Strange(f"{program} did not report all of its tests; a test may have ended the program")
    if counts != tuple(int(n) for n in results[0].groups()[1:]):
        raise Strange(f"{program} counts other tests than it lists")
    outcomes |= seen
    sections = dict(_sections(lines))
    for name in [n for n, o in seen.items() if o == "failed"]:
        found.append(_failed(output, name, sections.get(name.removeprefix(f"{program}::"), [])))


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, text = "", list[str]()
    for line in lines:
        match = _SECTION.match(line)
        if match or line == "failures:":
            if name:
                yield name, text
            name, text = match["name"] if match else "", []
        elif name:
            text.append(line)
    if name:
        yield name, text


def _failed(output: Output, name: str, lines: list[str]) -> Finding:
    at = next((n for n, line in enumerate(lines) if _PANIC.match(line)), None)
    place = None if at is None else _PANIC.match(lines[at])
    if at is None or place is None:
        return failure(output, name, "failed", "\n".join(lines[:12]) or "it failed")
    text = []
    for line in lines[at + 1 :]:
        if line.startswith(("stack backtrace:", "note: ")) or not line.strip():
            break
        text.append(line)
    message = "\n".join(text)
    sides = _SIDES.search(message)
    frame = Frame(path=output.relative(place["path"]), line=int(place["line"]), function=name.rpartition("::")[2])
    kind = "AssertionFailed" if message.startswith("assertion") else "panic"
    return failure(
        output, name, kind, message, path=frame.path, line=frame.line, frames=(frame,),
        expected=sides["right"] if sides else "", actual=sides["left"] if sides else "", detail=tuple(lines[:at])[-5:],
    )  # fmt: skip
