"""Interpreters are found by reading, and a hostile repository cannot have its choice of folders shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.adapters.python import find
from referee.domain.errors import UsageError

OWN = sys.executable


def environment(
    folder: Path, home: str, *, python: str | None = None, packages: tuple[str, ...] = ("pytest-9.0",)
) -> Path:
    """What `python -m venv` makes, without running it."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = folder / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python or os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.0\n")
    for package in packages:
        (site / f"{package}.dist-info").mkdir()
    return folder


HOME = os.path.dirname(os.path.realpath(sys.executable))


def test_the_projects_own_environment_comes_first(tmp_path: Path) -> None:
    place = environment(tmp_path / ".venv", HOME)
    active = environment(tmp_path / "elsewhere" / "active", HOME)
    found = find(str(tmp_path), own=OWN, virtual_env=str(active))
    assert found.executable == str(place / "bin" / "python")
    assert {m.target for m in found.mounts} >= {str(place)}
    assert find(str(tmp_path), own=OWN, explicit=str(active)).prefix == str(active)


def test_then_the_active_one_then_our_own(tmp_path: Path) -> None:
    active = environment(tmp_path / "active", HOME)
    repo = tmp_path / "repo"
    repo.mkdir()
    assert find(str(repo), own=OWN, virtual_env=str(active)).prefix == str(active)
    assert find(str(repo), own=OWN).prefix == os.path.dirname(os.path.dirname(OWN))


def test_a_missing_pytest_is_said_with_the_cure(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", HOME, packages=("requests-2.0",))
    note = find(str(tmp_path), own=OWN).note
    assert "has no pytest" in note
    assert "-m pip install pytest" in note


def test_plugins_are_read_from_entry_points(tmp_path: Path) -> None:
    place = environment(tmp_path / ".venv", HOME, packages=("pytest-9.0", "pytest_mock-3.1"))
    info = next(place.glob("lib/*/site-packages/pytest_mock-3.1.dist-info"))
    (info / "entry_points.txt").write_text("[console_scripts]\na = b:c\n[pytest11]\npytest_mock = pytest_mock\n")
    found = find(str(tmp_path), own=OWN)
    assert found.plugins == ("pytest_mock",)
    assert found.distributions == {"pytest": "9.0", "pytest-mock": "3.1"}


def test_a_home_that_is_no_installation_is_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "bin"
    secret.mkdir(parents=True)
    environment(tmp_path / "repo" / ".venv", str(secret))
    found = find(str(tmp_path / "repo"), own=OWN)
    assert "is none" in found.note
    assert not any(m.source.startswith(str(tmp_path)) for m in found.mounts)


def test_a_folder_that_holds_a_home_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = environment(tmp_path / "home", HOME)
    monkeypatch.setenv("HOME", str(home))
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / ".venv").symlink_to(home)
    found = find(str(repo), own=OWN)
    assert "private files" in found.note
    assert str(home) not in {m.source for m in found.mounts}


def test_a_script_that_poses_as_python_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexec rm -rf ~\n")
    script.chmod(0o755)
    environment(tmp_path / "repo" / ".venv", HOME, python=str(script))
    assert "not a Python program" in find(str(tmp_path / "repo"), own=OWN).note


def test_a_broken_environment_says_how_to_mend_it(tmp_path: Path) -> None:
    environment(tmp_path / ".venv", HOME, python="/nowhere/python")
    with pytest.raises(UsageError, match="make the environment again"):
        find(str(tmp_path), own=OWN, explicit=str(tmp_path / ".venv"))
    with pytest.raises(UsageError, match="is not a Python environment"):
        find(str(tmp_path), own=OWN, explicit=str(tmp_path / "nothing"))


def test_links_on_the_way_are_shown_where_they_are_named(tmp_path: Path) -> None:
    real = os.path.dirname(HOME)
    (tmp_path / "pythons").mkdir()
    link = tmp_path / "pythons" / "current"
    link.symlink_to(real)
    name = os.path.basename(os.path.realpath(sys.executable))
    environment(tmp_path / "repo" / ".venv", str(link / "bin"), python=str(link / "bin" / name))
    found = find(str(tmp_path / "repo"), own=OWN)
    if real.startswith("/usr"):
        pytest.skip("the installation is one that the sandbox shows anyway")
    assert {(m.source, m.target) for m in found.mounts} >= {(real, str(link)), (real, real)}
