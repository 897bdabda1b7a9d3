"""The bundled sample project as a real git repository in a folder of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec

from referee.adapters.git.fresh import first_commit
from referee.config import Config
from referee.domain.errors import UsageError

# A fixed author and date: the sample is the same commit everywhere.
_AUTHOR = "referee demo <demo@localhost> 1735689600 +0000"

_LINTERS = {"ruff": ("ruff", "ruff-format"), "mypy": ("mypy",)}  # what the sample is set up for, and its checks


def equipped(config: Config) -> tuple[Config, str]:
    """The settings without the linters that did not come along with referee, and words about that if there are any."""
    missing = [name for name in _LINTERS if find_spec(name) is None]
    if not missing:
        return config, ""
    skip = (*config.skip, *(check for name in missing for check in _LINTERS[name]))
    words = f"judged without {' and '.join(missing)}, which are not installed: pip install 'referee[checks]'"
    return config.model_copy(update={"skip": skip}), words


@contextmanager
def sample(keep: str | None) -> Iterator[str]:
    """The path of a fresh repository with the sample project committed; removed afterwards unless `keep` names it.

    Raises `UsageError` if `keep` exists and is not an empty folder.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="referee-demo-") as folder:
            yield _filled(os.path.join(os.path.realpath(folder), "cornershop"))
        return
    if os.path.lexists(keep) and (not os.path.isdir(keep) or os.listdir(keep)):
        raise UsageError(f"{keep} exists already; name a new folder: referee demo --keep DIR")
    yield _filled(os.path.realpath(keep))


def _filled(folder: str) -> str:
    paths = _copy(files("referee.demo") / "project", folder)
    first_commit(folder, paths, _AUTHOR, "Open the shop")
    return folder


def _copy(source: Traversable, target: str, prefix: str = "") -> list[str]:
    """Copy a folder of the package, without what tools leave behind; the copied files' relative paths."""
    os.makedirs(target, exist_ok=True)
    copied: list[str] = []
    for entry in sorted(source.iterdir(), key=lambda e: e.name):
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        place, name = os.path.join(target, entry.name), prefix + entry.name
        if entry.is_dir():
            copied += _copy(entry, place, name + "/")
        else:
            with open(place, "wb") as file:
                file.write(entry.read_bytes())
            copied.append(name)
    return copied
