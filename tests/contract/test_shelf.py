"""Every shelf behaves alike: it keeps facts for a day, and forgets rather than misremembers."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from referee.adapters.store import FileShelf
from referee.adapters.store.shelf import DAY
from referee.domain.errors import WorldFault
from referee.ports import Shelf
from referee.testing import FakeClock, MemoryShelf

Made = tuple[Shelf, FakeClock]


@pytest.fixture(params=["memory", "file"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    clock = FakeClock()
    kind: Callable[[], Shelf] = lambda: FileShelf(str(tmp_path / "facts"), clock)  # noqa: E731
    return (MemoryShelf(clock) if request.param == "memory" else kind()), clock


def test_a_fact_comes_back_as_it_was_put(made: Made) -> None:
    shelf, _ = made
    assert shelf.get("k") is None
    shelf.put("k", b"one\n\x00")
    shelf.put("k", b"two")
    shelf.put("other", b"")
    assert (shelf.get("k"), shelf.get("other"), shelf.get("K")) == (b"two", b"", None)


def test_a_fact_is_forgotten_after_a_day(made: Made) -> None:
    shelf, clock = made
    shelf.put("k", b"x")
    clock.sleep(DAY - 1)
    assert shelf.get("k") == b"x"
    clock.sleep(2)
    assert shelf.get("k") is None


def test_a_damaged_fact_is_not_known(tmp_path: Path) -> None:
    shelf = FileShelf(str(tmp_path), FakeClock())
    shelf.put("k", b"passed")
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"passed", b"failed"))
    os.utime(path, (0, FakeClock().now()))
    assert shelf.get("k") is None


def test_another_edition_of_the_judge_knows_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    FileShelf(str(tmp_path), clock, "one").put("k", b"x")
    assert FileShelf(str(tmp_path), clock, "two").get("k") is None


def test_only_so_many_facts_are_kept(tmp_path: Path) -> None:
    clock = FakeClock()
    shelf = FileShelf(str(tmp_path), clock)
    for n in range(70):
        clock.sleep(1)
        shelf.put(f"k{n}", b"x")
    assert len(list(tmp_path.iterdir())) == 64
    assert (shelf.get("k0"), shelf.get("k69")) == (None, b"x")


def test_a_disk_that_refuses_is_the_operators_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorldFault, match="could not keep a fact"):
        FileShelf(str(tmp_path / "file/facts"), FakeClock()).put("k", b"x")


def test_two_processes_may_thin_at_once(tmp_path: Path) -> None:
    """Whoever comes second finds the oldest facts gone already."""
    shelves = [FileShelf(str(tmp_path), FakeClock()) for _ in range(3)]
    for n in range(64):
        shelves[0].put(f"old{n}", b"x")
    with ThreadPoolExecutor(len(shelves)) as pool:
        for _ in pool.map(lambda s: [s.put(f"{id(s)}-{n}", b"x") for n in range(40)], shelves):
            pass
    assert 60 <= len(list(tmp_path.iterdir())) <= 68
