"""How the output of a user's command becomes findings: an exit code, lines with places, a tool's own report."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable

from referee.domain.errors import UsageError
from referee.domain.finding import Finding
from referee.domain.verdict import CheckResult
from referee.judge import noise
from referee.judge.checks.base import Check
from referee.judge.normal import coarse, decode, plain, steady
from referee.judge.readers import Output, reader
from referee.ports import Execution

_PLACED = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? *(?P<text>\S.*)$")
_RULED = re.compile(
    r"^(?:(?:error|warning|fatal)\s*:?\s+)?(?P<rule>[A-Z]{1,8}\d{2,6})\b:? *|\s+[\[(](?P<last>[\w-]+)[\])]$"
)


def by_exit(check: Check, words: str, execution: Execution) -> CheckResult:
    """Anything but a clean exit with 0 is a failure; a program that is not there did not run."""
    if execution.exit_code == 0 and execution.killed_by is None:
        return check.result(execution, ())
    if execution.exit_code in (126, 127):
        return check.unreadable(execution)
    lines = _lines(execution)
    ended = execution.killed_by or f"exit code {execution.exit_code}"
    if execution.killed_by == "wall":
        ended += f": it took longer than {check.seconds:g} seconds; give the check more seconds"
    at = noise.place(lines, check.project.root)
    found = Finding(
        check=check.name, id=check.name, error=ended, message=f"{words} failed: {ended}",
        path=at.path if at else "", line=at.line if at else 0,
        cause=f"command|{ended}", value=_digest(noise.steady_lines(steady(line) for line in lines)),
        detail=noise.gist(lines),
    )  # fmt: skip
    return check.result(execution, (found,))


def by_lines(check: Check, words: str, execution: Execution) -> CheckResult:
    """A finding per line `path:line: text` or `path:line:column: text`; a failure without one is one finding."""
    matches = [m for m in map(_PLACED.match, _lines(execution)) if m is not None]
    if not matches or execution.exit_code is None or execution.exit_code == 0:
        return by_exit(check, words, execution)  # notes of a run that passed are no findings
    return check.result(execution, tuple(_placed(check, m) for m in matches))


def _placed(check: Check, match: re.Match[str]) -> Finding:
    text = match["text"]
    ruled = _RULED.search(text)
    rule = (ruled["rule"] or ruled["last"]) if ruled else ""
    return placed(check, match["path"], int(match["line"]), rule, text)


def by_report(check: Check, words: str, execution: Execution, home: str = "") -> CheckResult:
    """A tool's own report, made in the folder `home`. A test runner that ran no test has said nothing."""
    if execution.exit_code in (126, 127):
        return check.unreadable(execution)
    read = reader(check.reader)
    if read is None:
        raise UsageError(f"check {check.name}: there is no reader {check.reader!r}")
    reading = read(Output.of(check.name, posixpath.join(check.project.root, home).rstrip("/"), execution))
    strange = reading.strange or ("it ran no test" if reading.outcomes == {} else "")
    if strange:
        limit = f"; it took longer than {check.seconds:g} seconds" if execution.killed_by == "wall" else ""
        return check.unreadable(execution, f"{words}: {strange}{limit}")
    ended = {kind: tuple(t for t, o in (reading.outcomes or {}).items() if o == kind) for kind in ("passed", "failed")}
    made = check.result(execution, reading.findings)
    if ended["failed"] and not reading.findings:
        return check.unreadable(execution, f"{words}: it reported failures and no reason for them")
    return made.model_copy(update={"passed_ids": ended["passed"], "failed_ids": ended["failed"]})


def placed(check: Check, path: str, line: int, rule: str, message: str) -> Finding:
    """A finding with its place relative to the project."""
    if path.startswith("/"):
        path = posixpath.relpath(path, check.project.root)
    path, message = posixpath.normpath(plain(path)) if path else "", plain(message)
    return Finding(
        check=check.name, id=f"{path}:{rule}", path=path, line=line, rule=rule, message=message,
        cause=f"{path}|{rule}|{coarse(message)}", value=steady(message),
    )  # fmt: skip


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _lines(execution: Execution) -> list[str]:
    text: Iterable[str] = (decode(execution.stdout) + "\n" + decode(execution.stderr)).splitlines()
    return [line for line in text if line.strip()]
