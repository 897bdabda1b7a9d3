"""What a run is given is opened once, whoever asks first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import small

from referee import wiring
from referee.config import load
from referee.testing import FakeSandbox, ended
from referee.wiring import Desk


def test_threads_that_ask_at_once_share_one_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two would never be closed."""
    repo = small.build(tmp_path / "repo")
    opened: list[FakeSandbox] = []
    slowly = threading.Event()

    def opening(*, allow_degraded: bool, cache_dir: str) -> FakeSandbox:
        opened.append(FakeSandbox(lambda command: ended(0)))
        slowly.wait(0.2)
        return opened[-1]

    monkeypatch.setattr(wiring, "open_sandbox", opening)
    with Desk(str(repo), load(str(repo), variables={}, user_file="")) as desk:
        askers = [threading.Thread(target=lambda: desk.sandbox) for _ in range(3)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        assert opened == [desk.sandbox]
