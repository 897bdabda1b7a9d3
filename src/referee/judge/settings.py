"""What a person may decide about the judge; everything has a default that works without being told."""

from __future__ import annotations

from pydantic import Field

from referee.domain.destination import Destination
from referee.domain.layer import Layer
from referee.domain.value import Value


class CheckSpec(Value):
    """A command of the user's whose exit code 0 is a pass. `{targets}` and `{files}` in `run` are filled in."""

    layer: Layer
    run: tuple[str, ...] = Field(min_length=1)
    name: str = ""


class Settings(Value):
    """Limits in seconds, the user's own checks, and which of the detected ones to leave out.

    `test_seconds` bounds one test, `target_seconds` and `suite_seconds` one run of the target and of the full suite;
    `repeats` is how often the target must fail alike before anything is proposed. `flaky` are test ids known to be
    unreliable: they are reported and not counted. The user's checks named in `connected` may connect to `egress`; no
    other check has any network.
    """

    checks: tuple[CheckSpec, ...] = ()
    skip: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    egress: tuple[Destination, ...] = ()
    connected: tuple[str, ...] = ()
    test_seconds: float = Field(default=10.0, gt=0)
    target_seconds: float = Field(default=30.0, gt=0)
    suite_seconds: float = Field(default=120.0, gt=0)
    repeats: int = Field(default=3, ge=2, le=10)
    parallel: int = Field(default=2, ge=1, le=64)

    def reach(self, check: str) -> tuple[Destination, ...]:
        """Where the user's check of that name may connect to."""
        return self.egress if check in self.connected else ()
