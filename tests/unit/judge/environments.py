"""Virtual environments with pytest in them, made without a network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import venv
from collections.abc import Mapping
from pathlib import Path

_NEEDED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")


def make(folder: Path, files: Mapping[str, str]) -> Path:
    """An environment at `folder` with a pytest of its own and `files` in its site-packages, which is returned."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next((folder / "lib").glob("python3*/site-packages"))
    for name in _NEEDED:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        source = os.path.dirname(spec.origin)
        if os.path.basename(spec.origin) != "__init__.py":
            shutil.copy(spec.origin, site)
            continue
        shutil.copytree(source, site / name, ignore=shutil.ignore_patterns("__pycache__", "_vendor"))
    (site / "pytest-9.0.0.dist-info").mkdir()
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    return site


def bare(folder: Path) -> None:
    """An environment at `folder` with nothing in it."""
    venv.create(folder, with_pip=False, symlinks=True)
