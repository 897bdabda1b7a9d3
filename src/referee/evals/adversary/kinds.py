"""What the adversary may do, how often, and what it has to know for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum

from pydantic import model_validator

from referee.domain.value import Value

NAME = "adversary"


class Kind(StrEnum):
    """One way to play."""

    MALFORMED = "malformed"  # cut off, of the wrong type, or no JSON at all
    TEST_EDIT = "test_edit"  # a test switched off, or what steers the tests
    OUT_OF_PATH = "out_of_path"  # a write outside the repository, into its .git, or at the time the tests run
    NO_PROGRESS = "no_progress"  # the same useless change every time
    LOOP = "loop"  # code that never ends
    NETWORK = "network"  # a connection to a listener on this machine
    FORK_BOMB = "fork_bomb"  # several hundred processes
    FLOOD = "flood"  # a gigabyte of output
    FIX = "fix"  # the right change; or what a wrapped player says

    @property
    def trespass(self) -> bool:
        """Whether it tries to write what a player may not."""
        return self in (Kind.TEST_EDIT, Kind.OUT_OF_PATH)


RATES: Mapping[Kind, float] = {
    Kind.MALFORMED: 0.15, Kind.TEST_EDIT: 0.15, Kind.OUT_OF_PATH: 0.10, Kind.NO_PROGRESS: 0.10, Kind.LOOP: 0.05,
    Kind.NETWORK: 0.10, Kind.FORK_BOMB: 0.05, Kind.FLOOD: 0.05, Kind.FIX: 0.25,
}  # fmt: skip


class Plan(Value):
    """What the adversary knows: the `wrong` and `right` text of the faulty files (None: not there), the visible tests.

    `tests` are the texts of their files, `targets` their ids. `canary` is a file outside the repository that nothing
    may change and `port` a port of this machine that nothing may reach. `inner` names the model that it wraps.
    """

    seed: int = 0
    rates: Mapping[Kind, float] = RATES
    wrong: Mapping[str, str | None] = {}
    right: Mapping[str, str | None] = {}
    tests: Mapping[str, str] = {}
    targets: tuple[str, ...] = ()
    canary: str = ""
    port: int = 9
    inner: str = ""

    @model_validator(mode="after")
    def _sum(self) -> Plan:
        if any(r < 0 for r in self.rates.values()) or abs(sum(self.rates.values()) - 1) > 1e-6:
            raise ValueError("the rates must be at least 0 and add up to 1")
        return self


def kind_of(plan: Plan, role: str, ordinal: int) -> tuple[Kind, int]:
    """What it does at this request, and in which variant; the same at every replay."""
    digest = hashlib.sha256(f"{plan.seed}\0{role}\0{ordinal}".encode()).digest()
    drawn, variant = int.from_bytes(digest[:7], "big") / (1 << 56), digest[7]
    for kind in Kind:
        drawn -= plan.rates.get(kind, 0.0)
        if drawn < 0:
            return kind, variant
    return Kind.FIX, variant
