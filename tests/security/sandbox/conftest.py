"""Attacks on the sandbox run over the same boxes as its contract."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))

from sandbox_boxes import Box, open_box


@pytest.fixture(params=("userns-root", "userns-user", "bubblewrap-root"), scope="module")
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """Every backend that claims to isolate."""
    with open_box(request.param, str(tmp_path_factory.mktemp("box"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """The positive control: the same attack where nothing is in its way."""
    with open_box("bare-root", str(tmp_path_factory.mktemp("bare"))) as opened:
        yield opened


@pytest.fixture
def userns(tmp_path: Path) -> Iterator[Box]:
    """One fork server of its own, to break."""
    with open_box("userns-root", str(tmp_path)) as opened:
        yield opened
