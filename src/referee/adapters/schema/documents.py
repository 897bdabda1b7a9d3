"""Reading documents: JSON, JSON lines and TOML, by the ending of the file's name."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import Any, NoReturn

from referee.domain.errors import UsageError
from referee.domain.violation import Violation


@dataclass(frozen=True)
class Document:
    """A value read from `file`; `line` is its line in a file of JSON lines, else 0."""

    file: str
    value: Any
    line: int = 0

    @property
    def shown(self) -> str:
        """The file, with the line where there are several documents in it."""
        return f"{self.file}:{self.line}" if self.line else self.file


def documents(file: str) -> tuple[list[Document], list[Violation]]:
    """The documents in a file, and what in it is none. Raises `UsageError` if it cannot be read."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except UnicodeDecodeError as wrong:
        return [], [Violation(file=file, path="$", message=f"it is not UTF-8 ({wrong.reason} at byte {wrong.start})")]
    except OSError as wrong:
        raise UsageError(f"{file} cannot be read: {wrong.strerror}") from wrong
    if not file.endswith(".jsonl"):
        return _parsed(file, text, 0)
    found, wrong_lines = list[Document](), list[Violation]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            good, bad = _parsed(file, line, number)
            found, wrong_lines = found + good, wrong_lines + bad
    return found, wrong_lines


def _parsed(file: str, text: str, line: int) -> tuple[list[Document], list[Violation]]:
    try:
        if file.endswith(".toml"):
            value = json.loads(json.dumps(tomllib.loads(text), default=str))  # times as JSON has them
        else:
            value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
    except json.JSONDecodeError as wrong:
        where = f"line {line or wrong.lineno}, column {wrong.colno}"
        return [], [Violation(file=file, path="$", message=f"it is not JSON: {wrong.msg} ({where})")]
    except (ValueError, RecursionError) as wrong:
        words = "it is nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
        return [], [Violation(file=f"{file}:{line}" if line else file, path="$", message=words)]
    return [Document(file, value, line)], []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [k for k, _ in pairs]
        twice = next(k for k in keys if keys.count(k) > 1)
        raise ValueError(f"the key {twice[:80]!r} is given twice in one object")
    return found


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
