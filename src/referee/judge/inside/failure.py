"""A failure as data: exception chain, own frames, difference of what was compared. Bounded, never raising."""

# ruff: noqa: B905 - the project's Python may be older than zip(strict=)

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Callable
from typing import Any

from .parts import part

MESSAGE, VALUE = 2_000, 200


def clip(value: Any, limit: int, tail: float = 0.35) -> str:
    """Text of at most about `limit` characters: both ends, and how much is missing between them."""
    text = value if isinstance(value, str) else str(value)
    if len(text) <= limit:
        return text
    head = int(limit * (1 - tail))
    return f"{text[:head]} …[{len(text) - limit} characters cut]… {text[len(text) - (limit - head) :]}"


def shown(value: Any, limit: int = VALUE) -> str:
    """`repr(value)`, clipped; a broken `__repr__` is told, not raised."""
    try:
        return clip(repr(value), limit)
    except Exception as error:
        return f"<repr of {type(value).__name__} raised {type(error).__name__}>"


class Describer:
    """Describes exceptions for one repository root."""

    def __init__(self, root: str, own: Callable[[str], bool]) -> None:
        self._root, self._own = root, own

    def exception(self, error: BaseException, depth: int = 0) -> dict[str, Any]:
        """Type, message, frames, notes, members of a group, and the chain of causes."""
        kind = type(error)
        module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__ + "."
        told: dict[str, Any] = {
            "type": module + kind.__qualname__,
            "message": _message(error),
            "frames": self.frames(error),
            "library": self._library(error),
        }
        notes = [*(part(error, "__notes__") or ()), *_example(error)]
        if notes:
            told["notes"] = [clip(n, 500) for n in notes[:5]]
        if isinstance(error, SyntaxError):
            told["syntax"] = [self._relative(error.filename or ""), error.lineno or 0, (error.text or "").strip()[:200]]
        members = part(error, "exceptions")
        if isinstance(members, tuple) and depth < 3:
            told["group"] = [self.exception(m, depth + 1) for m in members[:6] if isinstance(m, BaseException)]
            told["members"] = len(members)
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is not None and depth < 4:
            told["how"] = "from" if error.__cause__ else "during"
            told["cause"] = self.exception(cause, depth + 1)
        return told

    def frames(self, error: BaseException, keep: int = 6) -> list[list[Any]]:
        """Frames in the repository's own files, outermost first; recursion is one frame with a count."""
        own = [
            (self._relative(f.filename), f.lineno, f.name, clip((f.line or "").strip(), 160))
            for f in self._stack(error)
            if self._own(f.filename)
        ]
        runs = [[*key, sum(1 for _ in same)] for key, same in itertools.groupby(_folded(own))]
        return runs if len(runs) <= keep else runs[:2] + runs[2 - keep :]

    def _library(self, error: BaseException) -> list[Any] | None:
        stack = self._stack(error)
        if not stack or self._own(stack[-1].filename):
            return None
        last = stack[-1]
        place = "/".join(last.filename.split("/")[-2:])
        return [place, last.lineno, last.name, clip((last.line or "").strip(), 120)]

    def _stack(self, error: BaseException) -> list[traceback.FrameSummary]:
        walked = list(itertools.islice(traceback.walk_tb(error.__traceback__), 3_000))
        return list(traceback.StackSummary.extract(iter(walked), lookup_lines=False))

    def _relative(self, file: str) -> str:
        return os.path.relpath(file, self._root) if file.startswith(self._root + os.sep) else file


def _folded(frames: list[Any]) -> list[Any]:
    """Mutual recursion (a, b, a, b, …) as runs of one frame each, so that a deep stack stays short."""
    if len(frames) < 20:
        return frames
    counted: dict[Any, int] = {}
    for frame in frames:
        counted[frame] = counted.get(frame, 0) + 1
    return [frame for frame, times in counted.items() for _ in range(times)]


def _example(error: BaseException) -> list[str]:
    """What a doctest's example was, should have said and said."""
    example, got = part(error, "example"), part(error, "got")
    if type(error).__name__ != "DocTestFailure" or example is None:
        return []
    return [f"example: {example.source.strip()}", f"expected: {example.want.strip()}", f"got: {str(got).strip()}"]


def _message(error: BaseException) -> str:
    try:
        return clip(str(error), MESSAGE)
    except Exception as broken:
        return f"<str of {type(error).__name__} raised {type(broken).__name__}>"


def difference(left: Any, right: Any, most: int = 8) -> list[str]:
    """The first places where two values differ, by path into them."""
    found: list[str] = []
    try:
        _walk(left, right, "", found, most, 0)
    except Exception as error:
        found.append(f"values cannot be compared further: {type(error).__name__}")
    return [clip(line, 500) for line in found[:most]]


def _walk(left: Any, right: Any, path: str, found: list[str], most: int, depth: int) -> None:
    if len(found) >= most:
        return
    same = type(left) is type(right) and depth < 8
    if same and isinstance(left, dict):
        _walk_dict(left, right, path, found, most, depth)
    elif same and isinstance(left, (list, tuple)) and not hasattr(left, "_fields"):
        _walk_sequence(left, right, path, found, most, depth)
    elif same and hasattr(left, "__dataclass_fields__"):
        for name in left.__dataclass_fields__:
            a, b = part(left, name), part(right, name)
            if a != b:
                _walk(a, b, f"{path}.{name}", found, most, depth + 1)
    elif isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        found.append(f"{path or 'set'}: only left {shown(left - right)}; only right {shown(right - left)}")
    elif isinstance(left, str) and isinstance(right, str) and (len(left) + len(right) > 120 or "\n" in left + right):
        found.append(_text_difference(left, right, path))
    else:
        found.append(f"{path or 'value'}: {shown(left)} != {shown(right)}")


def _walk_dict(left: Any, right: Any, path: str, found: list[str], most: int, depth: int) -> None:
    for key in left:
        if len(found) >= most:
            return
        if key not in right:
            found.append(f"{path}[{shown(key, 60)}]: only left, {shown(left[key])}")
        elif left[key] != right[key]:
            _walk(left[key], right[key], f"{path}[{shown(key, 60)}]", found, most, depth + 1)
    for key in right:
        if key not in left and len(found) < most:
            found.append(f"{path}[{shown(key, 60)}]: only right, {shown(right[key])}")


def _walk_sequence(left: Any, right: Any, path: str, found: list[str], most: int, depth: int) -> None:
    if len(left) != len(right):
        found.append(f"{path or 'sequence'}: {len(left)} items on the left, {len(right)} on the right")
    unlike = [i for i, (a, b) in enumerate(zip(left, right)) if a != b]
    for i in unlike[:3]:
        _walk(left[i], right[i], f"{path}[{i}]", found, most, depth + 1)
    if len(unlike) > 3:
        found.append(f"{path or 'sequence'}: {len(unlike)} items differ in all")
    if not unlike and len(left) > len(right):
        found.append(f"{path}[{len(right)}]: only left, {shown(left[len(right)])}")
    if not unlike and len(right) > len(left):
        found.append(f"{path}[{len(left)}]: only right, {shown(right[len(left)])}")


def _text_difference(left: str, right: str, path: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
    start = max(0, at - 30)
    show = repr if (left + right).isascii() else ascii
    return (
        f"{path or 'text'}: differs at character {at} (line {left.count(chr(10), 0, at) + 1}): left"
        f" {show(left[start : at + 60])}, right {show(right[start : at + 60])}; {len(left)} and {len(right)} characters"
    )
