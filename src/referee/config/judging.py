"""What a user may decide about the judge: checks of their own, what to ignore and why, limits."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from referee.domain.layer import Layer
from referee.domain.value import Value
from referee.plugins import plugins

_TESTS = (
    "pytest", "pytest-suite", "pytest-affected", "integrity", "tests", "vitest", "jest", "node-test", "cargo-test",
    "go-test",
)  # fmt: skip


def _pattern(text: str) -> str:
    if not text.strip() or text.startswith(("!", "#")) or not text.isprintable():
        raise ValueError(f"{text!r} is no pattern; name files or folders as in .gitignore, without '!' and '#'")
    return text


def _reason(text: str) -> str:
    if not text.strip():
        raise ValueError("say why these findings may be ignored")
    return text


def _optional_pattern(text: str) -> str:
    return _pattern(text) if text else text


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as wrong:
        raise ValueError(f"not a regular expression ({wrong}); put a backslash before special characters") from None
    return text


READERS = (
    "exit", "lines", "junit", "sarif", "mypy", "pyright", "ruff", "ruff-format", "unittest", "coverage", "tsc",
    "eslint", "biome", "jest", "vitest", "node-test", "cargo", "cargo-test", "rustfmt", "gofmt", "go-vet", "go-test",
)  # fmt: skip


def _reader(name: str) -> str:
    known = (*READERS, *(() if name in READERS else plugins("readers")))
    if name not in known:
        raise ValueError(f"there is no reader {name!r}; use {', '.join(known)}")
    return name


Pattern = Annotated[str, AfterValidator(_pattern)]


class CheckSetting(Value):
    """A check of the user's own: a command at one layer, and how to read what it says.

    `not_run` says what it means if the command cannot run: `block` like a failure, or `allow`, told but not counted.
    """

    layer: Layer
    run: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    name: str = ""
    reader: Annotated[str, AfterValidator(_reader)] = "exit"
    seconds: Annotated[float, Field(gt=0)] | None = None
    not_run: Literal["block", "allow"] = "block"


class IgnoreSetting(Value):
    """Findings that do not count, with the reason (D8): what is given must match, `message` as an expression."""

    reason: Annotated[str, AfterValidator(_reason)]
    check: str = ""
    rule: str = ""
    path: Annotated[str, AfterValidator(_optional_pattern)] = ""
    message: Annotated[str, AfterValidator(_expression)] = ""

    @model_validator(mode="after")
    def _narrow(self) -> IgnoreSetting:
        if not (self.rule or self.path or self.message):
            raise ValueError("an ignore needs a rule, a path or a message; to leave out a whole check use skip")
        if self.check in _TESTS:
            raise ValueError("a failing test cannot be ignored; list its id under flaky if it is unreliable")
        return self


class JudgeLimits(Value):
    """The judge's limits in seconds: for one test, for one run of the target, for one run of the full suite.

    `integrity` is how hard a proposal is distrusted: `strict` cross-examines what passed.
    """

    test_seconds: float = Field(default=10.0, gt=0)
    target_seconds: float = Field(default=30.0, gt=0)
    suite_seconds: float = Field(default=120.0, gt=0)
    integrity: Literal["default", "strict"] = "default"
