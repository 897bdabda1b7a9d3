"""The messy repository and its oracle are those of the unit tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "unit/adapters/git"))

import oracle


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    oracle.close_all()
