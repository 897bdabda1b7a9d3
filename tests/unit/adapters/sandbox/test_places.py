"""Walking to a mount point without following a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from referee.adapters.sandbox.stage import places
from referee.adapters.sandbox.stage.places import Unfit


@pytest.fixture
def root(tmp_path: Path) -> int:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "leaf").symlink_to("real/file")
    return os.open(tmp_path, os.O_PATH)


@pytest.mark.parametrize("path", ("", "/a", "a/", "a//b", "./a", "a/..", "..", "a/./b"))
def test_paths_that_are_not_plain(path: str) -> None:
    with pytest.raises(Unfit):
        places.components(path)


def test_real_paths_are_found(root: int) -> None:
    for path, kind in (("real", stat.S_ISDIR), ("real/file", stat.S_ISREG)):
        fd = places.find(root, path)
        assert kind(os.fstat(fd).st_mode)
        os.close(fd)


@pytest.mark.parametrize("path", ("link", "link/file", "leaf", "absent", "real/file/deeper"))
def test_links_and_nothing_are_not_found(root: int, path: str) -> None:
    with pytest.raises(Unfit, match=path.split("/")[0]):
        places.find(root, path)


def test_mount_points_are_made_where_missing(root: int, tmp_path: Path) -> None:
    for path, folder in (("real/a/b", True), ("real/c/file", False), ("real/file", False)):
        os.close(places.make(root, path, folder))
    assert (tmp_path / "real/a/b").is_dir()
    assert (tmp_path / "real/c/file").is_file()
    assert (tmp_path / "real/file").read_text() == "x"


@pytest.mark.parametrize(("path", "folder"), (("link/x", True), ("leaf", False), ("real/file", True), ("real", False)))
def test_mount_points_are_not_made_through_links_or_over_other_kinds(root: int, path: str, folder: bool) -> None:
    with pytest.raises(Unfit):
        places.make(root, path, folder)
