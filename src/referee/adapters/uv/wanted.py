"""What a project requires, read from `pyproject.toml` or `requirements*.txt` without running anything."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from referee.domain.errors import UsageError

_LISTS = ("requirements.in", "requirements.txt")
_LOCKS = ("requirements.lock", "requirements.txt")
_PIN = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*==\s*([^\s;#\\,]+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """`requirements` as written, `python` the project's oldest version, `pins` what is locked now.

    `source` is the file they are from, `lock` the file that holds the pins; both are in `folder`, and may be the same.
    """

    folder: str
    source: str
    requirements: tuple[Requirement, ...]
    python: str = ""
    lock: str = ""
    pins: Mapping[str, str]
    notes: tuple[str, ...] = ()


def wanted(folder: str) -> Wanted:
    """What the project in `folder` requires. Raises `UsageError` with file and line for what is no requirement."""
    notes: list[str] = []
    source, texts, python = _texts(folder, notes)
    requirements = []
    for place, text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as wrong:
            raise UsageError(f"{place}: {text!r} is no requirement: {str(wrong).splitlines()[0]}") from None
        if requirement.url:
            notes.append(f"{requirement.name} comes from an address and is not resolved")
        else:
            requirements.append(requirement)
    lock = next((n for n in _LOCKS if os.path.isfile(os.path.join(folder, n))), "")
    pins = {str(canonicalize_name(m[1])): m[3] for m in _PIN.finditer(_read(folder, lock))} if lock else {}
    if os.path.isfile(os.path.join(folder, "uv.lock")):
        notes.append("uv.lock is not read or written; renew it with `uv lock`")
    return Wanted(
        folder=folder, source=source, requirements=tuple(requirements), python=python, lock=lock, pins=pins,
        notes=tuple(notes),
    )  # fmt: skip


def repinned(text: str, versions: Mapping[str, str]) -> str:
    """A file's text with exact pins (`name==1.0`) set to `versions`, by normalised name.

    Quoted requirements, as in `pyproject.toml`, count as well. Raises `UsageError` for a file with hashes, which are
    of the old versions.
    """

    if re.search(r"^\s*(?:[^#\n]*\s)?--hash=", text, re.MULTILINE):
        raise UsageError("the pins have hashes, which are of the old versions; renew them with the tool that made them")

    def pin(match: re.Match[str]) -> str:
        version = versions.get(canonicalize_name(match[2]))
        return match[0] if version is None else f"{match[1]}{match[2]}{match[3] or ''}{match[4]}{version}"

    pattern = r"(^\s*|[\"'])([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?(\s*==\s*)[^\s;#\\,\"']+"
    return re.sub(pattern, pin, text, flags=re.MULTILINE)


def _texts(folder: str, notes: list[str]) -> tuple[str, list[tuple[str, str]], str]:
    project = _read(folder, "pyproject.toml")
    if project:
        try:
            document: dict[str, Any] = tomllib.loads(project)
        except tomllib.TOMLDecodeError as wrong:
            raise UsageError(f"{folder}/pyproject.toml is not valid: {wrong}") from None
        table = document.get("project", {})
        if "dependencies" in table.get("dynamic", ()):
            notes.append("pyproject.toml leaves its dependencies to a build, which is not run")
        groups = [*table.get("optional-dependencies", {}).values(), *document.get("dependency-groups", {}).values()]
        texts = [*table.get("dependencies", ()), *(t for g in groups for t in g if isinstance(t, str))]
        own = canonicalize_name(str(table.get("name", "")))
        texts = [t for t in texts if canonicalize_name(re.split(r"[^\w.-]", t.strip(), maxsplit=1)[0]) != own]
        if texts:
            oldest = re.search(r">=\s*(\d+\.\d+)", str(table.get("requires-python", "")))
            return "pyproject.toml", [("pyproject.toml", t) for t in texts], oldest[1] if oldest else ""
    for name in _LISTS:
        if os.path.isfile(os.path.join(folder, name)):
            return name, list(_lines(folder, name, notes, set())), ""
    raise UsageError(
        f"{folder} has no dependencies in pyproject.toml and no requirements.txt; there is nothing to resolve"
    )


def _lines(folder: str, name: str, notes: list[str], seen: set[str]) -> Iterator[tuple[str, str]]:
    """The requirements in a file and those it includes; other options are left out, and that is said."""
    if name in seen:
        return
    seen.add(name)
    text = _read(folder, name).replace("\\\n", " ")
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        line = re.sub(r"\s--hash=\S+", "", line)
        if included := re.fullmatch(r"(?:-r|--requirement)[\s=]*(\S+)", line):
            inner = os.path.normpath(os.path.join(os.path.dirname(name), included[1]))
            if inner.startswith("..") or os.path.isabs(inner):
                raise UsageError(f"{name}, line {number}: {included[1]} lies outside the project")
            yield from _lines(folder, inner, notes, seen)
        elif line.startswith("-"):
            notes.append(f"{name}, line {number}: {line.split()[0].partition('=')[0]} is left out")
        elif line:
            yield f"{name}, line {number}", line


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as wrong:
        raise UsageError(f"{name} cannot be read: {wrong}") from None
