"""The messy repository and its oracle are those of the unit tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "unit/adapters/git"))

import oracle


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    oracle.close_all()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a kill is no power cut, so waiting for a disk would show nothing."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)
