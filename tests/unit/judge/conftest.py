"""Labs for the judge's tests; one sandbox serves a whole module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from judge_lab import Lab, opened

from referee.ports import Sandbox

Build = Callable[..., Lab]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = opened()
    yield made
    made.close()


@pytest.fixture
def build(tmp_path: Path, sandbox: Sandbox) -> Iterator[Build]:
    made: list[Lab] = []

    def make(files: Mapping[str, str | bytes], **budget: Any) -> Lab:
        root = tmp_path / f"repo{len(made)}"
        root.mkdir()
        made.append(Lab(root, files, sandbox, **budget))
        return made[-1]

    yield make
    for lab in made:
        lab.close()
