"""What a tool's output says, in the judge's terms."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from referee.domain.finding import Finding
from referee.domain.value import Value
from referee.judge.normal import coarse, decode, observed, plain, steady
from referee.ports import Execution

TestOutcome = Literal["passed", "failed", "skipped"]


class Output(Value):
    """How a tool ended and what it wrote. `root` is the project's root as the tool saw it."""

    check: str
    root: str
    stdout: str
    stderr: str
    exit_code: int | None
    killed_by: str | None = None

    @classmethod
    def of(cls, check: str, root: str, execution: Execution) -> Output:
        """The output of an execution, as plain text."""
        return cls(
            check=check,
            root=root,
            stdout=decode(execution.stdout),
            stderr=decode(execution.stderr),
            exit_code=execution.exit_code,
            killed_by=execution.killed_by,
        )

    def relative(self, path: str) -> str:
        """`path` below the root, if it is there; tools name files in either way."""
        path = path.removeprefix("file://")
        inside = path == self.root or path.startswith(self.root.rstrip("/") + "/")
        return posixpath.relpath(path, self.root) if inside else posixpath.normpath(path)


class Reading(Value):
    """Findings and, from a tool that runs tests, how each of them ended.

    `outcomes` is None for a tool that runs none. `strange` says why the output cannot be believed; a check that was
    read so did not run, whatever else it said (case H15).
    """

    findings: tuple[Finding, ...] = ()
    outcomes: Mapping[str, TestOutcome] | None = None
    strange: str = ""


Reader = Callable[[Output], Reading]


class Strange(ValueError):
    """Output that is not what the tool writes."""


def whole(read: Reader) -> Reader:
    """A reader whose every stumble over the output is a reading of its own."""

    def careful(output: Output) -> Reading:
        if output.killed_by:
            return Reading(strange=f"it was killed ({output.killed_by})")
        try:
            return read(output)
        except Strange as error:
            return Reading(strange=str(error))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return Reading(strange="its report is not in the form this reader knows")

    return careful


def agreed(output: Output, findings: Sequence[Finding], failing: Sequence[int] = (1,)) -> Reading:
    """The findings, if the exit code says the same: 0 without any, one of `failing` with some."""
    expected = tuple(failing) if findings else (0,)
    if output.exit_code not in expected:
        raise Strange(f"it reported {len(findings)} findings, but ended with exit code {output.exit_code}")
    return Reading(findings=tuple(findings))


def settled(
    output: Output, findings: Sequence[Finding], outcomes: Mapping[str, TestOutcome], failing: Sequence[int] = (1,)
) -> Reading:
    """The findings and outcomes of a test runner, if its exit code agrees with both."""
    bad = bool(findings) or "failed" in outcomes.values()
    if output.exit_code not in (tuple(failing) if bad else (0,)):
        raise Strange(f"it reported {'failures' if bad else 'no failure'}, but ended with exit code {output.exit_code}")
    return Reading(findings=tuple(findings), outcomes=dict(outcomes))


def diagnostic(output: Output, path: str, line: int, rule: str, message: str) -> Finding:
    """A finding at a place in a file."""
    path, message = output.relative(path), plain(message).strip()
    return Finding(
        check=output.check,
        id=f"{path}:{rule}",
        path=path,
        line=line,
        rule=rule,
        message=message,
        cause=f"{path}|{rule}|{coarse(message)}",
        value=steady(message),
    )


def failure(output: Output, test: str, error: str, message: str, **more: Any) -> Finding:
    """A test that failed: `more` are further fields of the finding."""
    text = plain(message).strip()
    # Of an assertion the message says what was observed, not what is wrong.
    said = coarse(test) if error.startswith("Assertion") else coarse(text)
    return Finding(
        check=output.check,
        id=test,
        phase="call",
        error=error,
        message=text,
        cause="|".join((error, more.get("path", ""), said)),
        value=observed(text, more.get("expected", "")),
        **more,
    )


def document(text: str) -> Any:
    """The one JSON document in `text`, which may have chatter before it."""
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        raise Strange("it wrote no JSON")
    return json.loads(text[min(starts) :])


def lines_of_json(text: str) -> list[Any]:
    """The JSON objects among the lines of `text`."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
