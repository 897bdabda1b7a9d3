"""Workspaces hold processes and descriptors: every test lets go of its own."""

from __future__ import annotations

from collections.abc import Iterator

import oracle
import pytest


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    oracle.close_all()
