"""Reading configuration files: the user's own and the repository's."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from typing import Any

from referee.config.keys import KEYS, checked, nearest
from referee.domain.errors import UsageError

MAX_BYTES = 1 << 20
REPOSITORY_FILE = "referee.toml"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file's settings: the text, to name lines in, and the table in it that is ours."""

    path: str
    text: str
    table: dict[str, Any]

    def settings(self) -> dict[str, Any]:
        """Checked values by dotted key. Raises `UsageError` with file and line for an unknown or wrong one."""
        found: dict[str, Any] = {}
        for name, raw in _flat(self).items():
            if name not in KEYS:
                names = [k for k in KEYS if k not in ("virtual_env", "record")]
                raise UsageError(f"{self.place(name)}: unknown key {name!r}; {nearest(name, names)}")
            found[name] = checked(KEYS[name], raw, self.place(name), strict=True)
        return found

    def place(self, name: str) -> str:
        """The file and, where it can be told, the line that sets `name`."""
        section, _, last = name.rpartition(".")
        lines = self.text.splitlines()
        header = re.compile(rf"\s*\[+\s*[\w.\"' -]*\b{re.escape(section)}\s*\]") if section else None
        start = next((i for i, line in enumerate(lines) if header and header.match(line)), 0)
        wanted = re.compile(rf"\s*(\[+\s*(tool\.referee\.)?)?([\w-]+\.)*[\"']?{re.escape(last)}[\"']?\s*[=.\]]")
        line = next((i for i, text in enumerate(lines[start:], start + 1) if wanted.match(text)), 0)
        return f"{self.path}, line {line}" if line else self.path


def user_source(path: str) -> Source | None:
    """The user's own file, or None if there is none."""
    text = read(path)
    return None if text is None else Source(path=path, text=text, table=_parse(path, text))


def repository_source(root: str) -> Source | None:
    """The settings a repository brings: `referee.toml`, or `[tool.referee]` in `pyproject.toml`, not both."""
    own_path, shared_path = os.path.join(root, REPOSITORY_FILE), os.path.join(root, "pyproject.toml")
    own, shared = read(own_path), read(shared_path)
    tool = _parse(shared_path, shared).get("tool", {}) if shared is not None else {}
    table = tool.get("referee") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{shared_path}: tool.referee must be a table; write [tool.referee]")
    if own is not None and table is not None:
        raise UsageError(f"{own_path} and [tool.referee] in {shared_path} both exist; keep one of them")
    if own is not None:
        return Source(path=own_path, text=own, table=_parse(own_path, own))
    return None if table is None else Source(path=shared_path, text=shared or "", table=table)


def read(path: str) -> str | None:
    """A small text file, None if it is missing. Raises `UsageError` in words for anything else."""
    try:
        # Not blocking: a pipe by that name must not hang us.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as wrong:
        raise UsageError(f"{path} cannot be read ({wrong.strerror}); make it readable or move it away") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path} is not a regular file; move it away")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES} bytes; shorten it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise UsageError(f"{path}, line {line}: not UTF-8 text; save it as UTF-8") from None


def text_of(path: str) -> str:
    """A small text file that a person named. Raises `UsageError` if it is missing or no text."""
    text = read(path)
    if text is None:
        raise UsageError(f"there is no file {path}")
    return text


def _parse(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise UsageError(f"{path} is not valid TOML: {wrong}; correct that line") from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply; write plain tables") from None


def _flat(source: Source) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    sections = {name.partition(".")[0] for name in KEYS if "." in name}
    for name, raw in source.table.items():
        if name not in sections:
            flat[name] = raw
        elif isinstance(raw, dict):
            flat |= {f"{name}.{inner}": value for inner, value in raw.items()}
        else:
            raise UsageError(f"{source.place(name)}: {name} must be a table; write [{name}] and its keys below")
    return flat
