"""Files in which a repository says how things are done in it, one for each folder that has one."""

from __future__ import annotations

from collections.abc import Container, Iterator

NAMES = ("AGENTS.md", "CLAUDE.md")  # of both in one folder the first counts


def guide(folder: str, paths: Container[str]) -> str:
    """The guide of a folder (empty for the root), or nothing."""
    prefix = f"{folder}/" if folder else ""
    return next((f"{prefix}{name}" for name in NAMES if f"{prefix}{name}" in paths), "")


def above(path: str, paths: Container[str]) -> Iterator[str]:
    """The guides of the folders that `path` is in, outermost first, without the root's."""
    folders = path.split("/")[:-1]
    for depth in range(1, len(folders) + 1):
        found = guide("/".join(folders[:depth]), paths)
        if found and found != path:
            yield found
