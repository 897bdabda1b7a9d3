"""What other packages add to referee, by entry points: models, readers, operators, tools.

Only packages of the environment that referee itself runs in are looked at. A folder that merely is on the path, such as
the one where `python -m referee` was typed, may be a repository's, and a repository adds nothing.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, distributions
from typing import Any, Literal

from referee.domain.errors import UsageError

Group = Literal["models", "readers", "operators", "tools"]


@dataclass(frozen=True)
class Plugin:
    """One thing that the package `package` adds."""

    package: str
    point: EntryPoint

    def load(self) -> Any:
        """The thing itself. Raises `UsageError` that names the package if it cannot be imported."""
        try:
            return self.point.load()
        except Exception as wrong:  # a stranger's module: whatever it raises is its fault, and must be told as such
            raise UsageError(
                f"the plugin {self.point.name} of {self.package} cannot be loaded: {type(wrong).__name__}: {wrong}; "
                "mend or uninstall that package"
            ) from wrong


def plugins(group: Group) -> Mapping[str, Plugin]:
    """What is added under `referee.GROUP`, by name. Raises `UsageError` if two packages add the same name."""
    found: dict[str, Plugin] = {}
    for plugin in _installed(_places()):
        if plugin.point.group != f"referee.{group}":
            continue
        name = plugin.point.name
        if name in found:
            both = f"{found[name].package} and {plugin.package}"
            raise UsageError(f"{both} both add {name!r} to referee.{group}; uninstall one of them")
        found[name] = plugin
    return found


def _places() -> tuple[str, ...]:
    """Where packages of this environment are installed."""
    return tuple(dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib")))


@cache
def _installed(places: tuple[str, ...]) -> tuple[Plugin, ...]:
    return tuple(
        Plugin(package=str(package.metadata["Name"]), point=point)
        for package in distributions(path=list(places))
        for point in package.entry_points
        if point.group.startswith("referee.")
    )
