"""Test modules compiled in the warm process, for every candidate that leaves them as they are: tests are protected."""

from __future__ import annotations

import contextlib
import pathlib
import types
from typing import Any, NamedTuple

from _pytest.assertion import rewrite

_ready: dict[str, Ready] = {}


class Ready(NamedTuple):
    """A module's source and code, as pytest's rewriter gives them, and what is known of its calls."""

    source: bytes
    stat: Any
    code: types.CodeType
    calls: tuple[set[str], bool]


def compiled(file: str, told: list[tuple[set[str], bool]]) -> None:
    """Compile one, by pytest's own means; `told` is filled by the rewriting. One that has errors shows them later."""
    del told[:]
    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        source = pathlib.Path(file).read_bytes()
        stat, code = rewrite._rewrite_test(pathlib.Path(file), None)  # type: ignore[arg-type]
        if told:
            _ready[file] = Ready(source, stat, code, told[-1])


def usable(file: Any, config: Any) -> Ready | None:
    """The module, if its file is the same and nothing else is wanted of the rewriting."""
    ready = _ready.get(str(file))
    if ready is None or config.getini("enable_assertion_pass_hook") or file.read_bytes() != ready.source:
        return None
    return ready
