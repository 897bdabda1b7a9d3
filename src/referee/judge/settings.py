"""What a person may decide about the judge; everything has a default that works without being told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.domain.destination import Destination
from referee.domain.layer import Layer
from referee.domain.parts import Parts
from referee.domain.value import Value

TARGET_KEY = "target_seconds under [judge] in referee.toml"
SUITE_KEY = "suite_seconds under [judge] in referee.toml"
TEST_KEY = "test_seconds under [judge] in referee.toml"


class CheckSpec(Value):
    """A command of the user's. `{targets}` and `{files}` in `run` are filled in.

    `reader` says how its output becomes findings, `seconds` its limit (None: that of its layer). `not_run` is what it
    means if it cannot run: `block`, or `allow`.
    """

    layer: Layer
    run: tuple[str, ...] = Field(min_length=1)
    name: str = ""
    reader: str = "exit"
    seconds: float | None = None
    not_run: Literal["block", "allow"] = "block"

    @property
    def title(self) -> str:
        """How it is called."""
        return self.name or " ".join(self.run)


class Ignore(Value):
    """Findings that do not count, and why (D8). Empty fields match everything; `message` is searched as a pattern."""

    reason: str
    check: str = ""
    rule: str = ""
    path: str = ""
    message: str = ""


class Settings(Value):
    """Limits in seconds, the user's own checks, and which of the detected ones to leave out.

    `test_seconds` bounds one test, `target_seconds` and `suite_seconds` one run of the target and of the full suite;
    `repeats` is how often the target must fail alike before anything is proposed. `flaky` are test ids known to be
    unreliable: they are reported and not counted. `integrity` says how hard a proposal is distrusted, `source` what a
    person named as source. The user's checks named in `connected` may connect to `egress`; no other check has any
    network. `parts` are those of the shell that are on.
    """

    checks: tuple[CheckSpec, ...] = ()
    skip: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    egress: tuple[Destination, ...] = ()
    connected: tuple[str, ...] = ()
    ignore: tuple[Ignore, ...] = ()
    test_seconds: float = Field(default=10.0, gt=0)
    target_seconds: float = Field(default=30.0, gt=0)
    suite_seconds: float = Field(default=120.0, gt=0)
    source: tuple[str, ...] = ()
    integrity: Literal["default", "strict"] = "default"
    repeats: int = Field(default=3, ge=2, le=10)
    parallel: int = Field(default=2, ge=1, le=64)
    parts: Parts = Parts()

    def reach(self, check: str) -> tuple[Destination, ...]:
        """Where the user's check of that name may connect to."""
        return self.egress if check in self.connected else ()
