"""Where a document is not what it should be."""

from __future__ import annotations

from referee.domain.value import Name, Value


class Violation(Value):
    """One thing wrong with a file; `path` leads to the place inside it, as in `$.items[0].price`."""

    file: Name
    path: str
    message: str

    @property
    def words(self) -> str:
        """File, place and what is wrong."""
        return f"{self.file}: {self.path}: {self.message}"


class Validation(Value):
    """What was found in all files."""

    valid: bool
    violations: tuple[Violation, ...] = ()


def place(parts: tuple[int | str, ...]) -> str:
    """Keys and indexes as a path."""
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if part.isidentifier() else f"[{part!r}]"
    return text
