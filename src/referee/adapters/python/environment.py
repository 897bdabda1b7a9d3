"""What is installed in an environment, from its files."""

from __future__ import annotations

import configparser
import os
import re

_MOST = 4_000  # distributions looked at; more is no environment but a mistake


def distributions(sites: tuple[str, ...]) -> dict[str, str]:
    """Installed packages by normalised name, with their versions."""
    found: dict[str, str] = {}
    for name, version, _ in _dist_infos(sites):
        found.setdefault(name, version)
    return found


def pytest_plugins(sites: tuple[str, ...]) -> tuple[str, ...]:
    """The names under which installed packages register pytest plugins, sorted."""
    names: set[str] = set()
    for _, _, folder in _dist_infos(sites):
        names.update(_entry_points(os.path.join(folder, "entry_points.txt")))
    return tuple(sorted(names))


def _dist_infos(sites: tuple[str, ...]) -> list[tuple[str, str, str]]:
    found = []
    for site in sites:
        try:
            entries = sorted(os.listdir(site))[:_MOST]
        except OSError:
            continue
        for entry in entries:
            stem, dot, kind = entry.rpartition(".")
            if not dot or kind not in ("dist-info", "egg-info"):
                continue
            name, _, version = stem.partition("-")
            found.append((re.sub(r"[-_.]+", "-", name).lower(), version, os.path.join(site, entry)))
    return found


def _entry_points(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return []
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return list(parser["pytest11"]) if parser.has_section("pytest11") else []
