"""A memory as Markdown with front matter: plain `key: value` lines, then the text."""

from __future__ import annotations

import re

from pydantic import ValidationError

from referee.domain.memory import Memory, MemoryLayer, Origin

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n|)---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELDS = ("origin", "source", "date", "confidence", "topic", "expires", "supersedes", "when", "cost")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FILE = re.compile(r"(.+) ([0-9a-f]{64})")


class NotAMemory(ValueError):
    """The file is no memory; the message says what to write instead."""


def is_id(text: str) -> bool:
    """Whether a memory can be called so."""
    return bool(_ID.fullmatch(text))


def written(memory: Memory) -> str:
    """The file that `parsed` reads back as the same memory."""
    values = memory.model_dump(mode="json")
    lines = [f"{name}: {' '.join(str(values[name]).split())}" for name in _FIELDS if values[name]]
    lines += [f"file: {path} {digest}" for path, digest in sorted(memory.files.items())]
    return "---\n" + "".join(f"{line}\n" for line in lines) + f"---\n\n{memory.text.strip()}\n"


def parsed(text: str, memory_id: str, layer: MemoryLayer, day: str) -> Memory:
    """The memory in a file; one that somebody wrote without front matter is from the file, of the `day` it was written.

    Raises `NotAMemory`.
    """
    text = text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    body = text[front.end() :].strip() if front else text.strip()
    if not body:
        raise NotAMemory("it has no text")
    fields: dict[str, object] = {"origin": Origin.FILE.value, "date": day}
    files: dict[str, str] = {}
    for line in filter(str.strip, front[1].split("\n") if front else ()):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key not in (*_FIELDS, "file"):
            raise NotAMemory(f"its front matter has {line.strip()[:60]!r}; known are {', '.join(_FIELDS)} and file")
        if key == "file":
            named = _FILE.fullmatch(value)
            if not named:
                raise NotAMemory("a file line is a path, a space and its SHA-256")
            files[named[1]] = named[2]
        elif value:
            fields[key] = value
    try:
        return Memory.model_validate({**fields, "id": memory_id, "layer": layer, "text": body, "files": files})
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        raise NotAMemory(f"{first['loc'][0]}: {first['msg']}") from None
