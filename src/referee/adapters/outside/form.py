"""The form of a tool's arguments, and secrets that are named and never written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from referee.domain.errors import UsageError
from referee.domain.value import Value

V = TypeVar("V", bound=Value)
NAMED = "env:"


def formed(kind: type[V], arguments: Mapping[str, Any], tool: str) -> V:
    """The arguments in the tool's form. Raises `UsageError` that names the first wrong one."""
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        place = ".".join(str(p) for p in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{tool}: {place + ': ' if place else ''}{reason}") from None


def resolved(text: str, secret: Callable[[str], str | None]) -> str:
    """`text`, or what the variable holds that it names as `env:NAME`. Raises `UsageError` if that is not set."""
    if not text.startswith(NAMED):
        return text
    name = text.removeprefix(NAMED)
    value = secret(name)
    if value is None:
        raise UsageError(f"the environment variable {name} is not set; set it and resume")
    return value
