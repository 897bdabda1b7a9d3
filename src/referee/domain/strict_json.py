"""Exactly one JSON object out of a model's reply, found by grammar and validated by schema (E1)."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.value import Value

MAX_BYTES = 2 << 20
MAX_DEPTH = 64
SHOWN_ERRORS = 8
CHECK = "reply"

_OBJECT = re.compile(r'\{\s*"')  # prose has braces too; an object of ours begins with a key
_EMPTY = re.compile(r"\{\s*\}")

V = TypeVar("V", bound=Value)


def parse(reply: str, kind: type[V]) -> V:
    """The one `kind` in `reply`. Raises `Rejected` with a message the model can act on, to be fed back as it is."""
    found = extract(reply)
    try:
        # Through JSON again, because only there does strict mode take a list for a tuple.
        return kind.model_validate_json(json.dumps(found), strict=True)
    except ValidationError as e:
        raise refused(f"the JSON object does not fit the schema:\n{_explain(e)}") from None


def extract(reply: str) -> dict[str, Any]:
    """The one JSON object in `reply`, whatever text or fences surround it. Raises `Rejected`.

    Stricter than the standard library: no NaN or Infinity, no number beyond a float, no duplicate keys, no lone
    surrogates, at most 64 levels and 2 MiB.
    """
    if len(reply) > MAX_BYTES or len(reply.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise refused(f"the reply is longer than {MAX_BYTES >> 20} MiB; send only the files that change")
    start = _OBJECT.search(reply) or _EMPTY.search(reply)
    if start is None:
        raise refused("the reply holds no JSON object; answer with one JSON object and nothing else")
    found, end = _decode(reply, start.start())
    if _OBJECT.search(reply, end):
        raise refused("the reply holds more than one JSON object; answer with exactly one")
    return found


def refused(message: str) -> Rejected:
    """The rejection of a reply for one reason."""
    return Rejected((Finding(kind=FindingKind.UNAPPLIABLE, check=CHECK, message=message),))


def _decode(text: str, start: int) -> tuple[dict[str, Any], int]:
    try:
        found, end = _DECODER.raw_decode(text, start)
        _inspect(found)
    except json.JSONDecodeError as e:
        where = f"line {e.lineno} column {e.colno} of the reply"
        cut = "; it ends too early" if e.pos >= len(text.rstrip()) or e.msg.startswith("Unterminated") else ""
        raise refused(f"the JSON object is not valid: {e.msg.removesuffix(' at')} at {where}{cut}") from None
    except RecursionError:
        raise refused(_TOO_DEEP) from None
    except ValueError as e:
        raise refused(f"the JSON object is not valid: {e}") from None
    return found, end


_TOO_DEEP = f"the JSON object is nested deeper than {MAX_DEPTH} levels"


def _inspect(found: Any) -> None:
    """What the decoder cannot refuse by itself: depth, and text that no file could hold."""
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RecursionError
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.keys()
                below += item.values()
            elif isinstance(item, list):
                below += item
            elif isinstance(item, str) and not item.isascii() and any("\ud800" <= c <= "\udfff" for c in item):
                raise ValueError("a string holds half of a surrogate pair")
        level = below


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:80]!r} is given twice in one object")
        found[key] = value
    return found


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > 64:
        raise ValueError(f"the number {text[:40]}... is too large")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_number, parse_int=_whole, parse_constant=_constant)


def _explain(error: ValidationError) -> str:
    """Pydantic's account, one line per violation and without addresses or echoes of the input."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    # A list with an item in error is reported as too short as well; the item says what matters.
    errors = [e for e in errors if not (e["type"] == "too_short" and _has_child(e["loc"], errors))]
    lines = [f"- {_sentence(e['type'], _place(e['loc']), e['msg'])}" for e in errors[:SHOWN_ERRORS]]
    if len(errors) > SHOWN_ERRORS:
        lines.append(f"- and {len(errors) - SHOWN_ERRORS} more")
    return "\n".join(lines)


def _has_child(loc: tuple[int | str, ...], errors: list[ErrorDetails]) -> bool:
    return any(len(e["loc"]) > len(loc) and e["loc"][: len(loc)] == loc for e in errors)


def _sentence(kind: str, place: str, message: str) -> str:
    if kind == "missing":
        return f"{place} is missing"
    if kind == "extra_forbidden":
        return f"{place} is not a key of the schema; leave it out"
    return f"{place}: {message.removeprefix('Value error, ')[:400]}"


def _place(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part[:60]}" if text else part[:60]
    return text or "the object"
