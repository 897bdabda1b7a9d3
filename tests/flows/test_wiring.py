"""The desk makes each thing once, whoever asks first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import small

from referee.config import load
from referee.wiring import Desk


def test_threads_that_ask_at_once_get_the_same_sandbox(tmp_path: Path) -> None:
    """A second sandbox that nobody keeps is closed, and takes down what the first thread started in it."""
    repo = small.build(tmp_path / "repo")
    with Desk(str(repo), load(str(repo), variables={}, user_file="")) as desk, ThreadPoolExecutor(4) as pool:
        together = threading.Barrier(4)

        def ask(_: int) -> int:
            together.wait()
            return id(desk.sandbox)

        assert len(set(pool.map(ask, range(4)))) == 1
