"""From the data of a failure to a finding (A4: `cause` tells root causes apart, `value` is what was observed)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from referee.domain.finding import Finding, FindingKind, Frame
from referee.judge.normal import coarse, observed, plain, steady, timeless

Record = Mapping[str, Any]


def of_failure(check: str, record: Record) -> Finding:
    """A test that failed in setup, call or teardown."""
    error, compared = record["error"], record.get("compared") or {}
    made = _of_error(check, record["id"], record["when"], error)
    detail = [*made.detail, *compared.get("difference", ())]
    if record.get("text"):
        detail += [record["text"]]
    for name, text in record.get("output", {}).items():
        detail.append(f"{name.lower()}: …{timeless(text.strip())}")
    left, right = compared.get("left", ""), compared.get("right", "")
    seen = "\n".join((left, right, *compared.get("difference", ()))).strip() or _message(error)
    return made.model_copy(
        update={
            "actual": plain(left),
            "expected": plain(right),
            "value": _digest(observed(plain(seen), plain(right))),
            "detail": tuple(plain(d) for d in detail),
        }
    )


def of_collection(check: str, record: Record) -> Finding:
    """A module that could not be collected."""
    error = record.get("error")
    if error is None:
        text = plain(record["text"])
        return Finding(
            check=check, id=record["id"], phase="collect", error="collection", message=_first(text) or "not collected",
            cause=f"collect|{coarse(text)}", value=_digest(steady(text)), detail=(text,),
        )  # fmt: skip
    return _of_error(check, record["id"], "collect", error)


def of_internal(check: str, error: Record) -> Finding:
    """pytest, or one of its plugins, broke."""
    return _of_error(check, "(pytest internal error)", "internal", error)


def tampering(check: str, message: str, where: str = "", trick: str = "") -> Finding:
    """The code under test reached for the judge."""
    return Finding(
        kind=FindingKind.TAMPER, check=check, id=where, path=where, rule=trick, error=trick, message=message,
        cause=f"tamper|{trick}|{where}",
    )  # fmt: skip


def _of_error(check: str, test: str, phase: str, error: Record) -> Finding:
    frames, root = _frames(error), _root(error)
    place = frames[-1] if frames else None
    path, line = (place.path, place.line) if place else ("", 0)
    if error.get("syntax"):
        path, line = plain(error["syntax"][0]), int(error["syntax"][1])
    message = plain(f"{error['message']}")
    return Finding(
        check=check,
        id=plain(test),
        path=path,
        line=line,
        phase=phase,
        error=plain(error["type"]),
        message=message or error["type"],
        frames=frames,
        cause=_cause(phase, error, root),
        value=_digest(steady(message)),
        detail=tuple(plain(d) for d in _details(error)),
    )


def _cause(phase: str, error: Record, root: Record) -> str:
    own = (root["frames"] or error["frames"] or [None])[-1]
    place = "" if own is None else f"{own[0]}:{own[2]}:{coarse(own[3])}"
    if error.get("syntax"):
        place = str(error["syntax"][0])
    said = "" if root["type"] == "AssertionError" else coarse(plain(root["message"]))
    return "|".join((phase, error["type"], root["type"], place, said))


def _root(error: Record) -> Record:
    while error.get("cause"):
        error = error["cause"]
    return error


def _frames(error: Record) -> tuple[Frame, ...]:
    return tuple(
        Frame(path=plain(path), line=line or 0, function=name, source=plain(source), repeats=times)
        for path, line, name, source, times in error["frames"]
    )


def _details(error: Record) -> Iterator[str]:
    if error.get("syntax"):
        path, line, text = error["syntax"]
        yield f"at {path}:{line}: {text}"
    yield from (f"note: {n}" for n in error.get("notes", ()))
    if error.get("library"):
        path, line, name, source = error["library"]
        yield f"raised in {path}:{line} {name}: {source}"
    for member in error.get("group", ()):
        yield f"| {_summary(member)}"
        yield from (f"|   {line}" for line in _details(member))
    if error.get("members", 0) > len(error.get("group", ())):
        yield f"| … {error['members'] - len(error['group'])} more"
    if error.get("cause"):
        yield f"{'caused by' if error['how'] == 'from' else 'while handling'} {_summary(error['cause'])}"
        yield from _details(error["cause"])


def _summary(error: Record) -> str:
    own = error["frames"][-1] if error["frames"] else None
    place = f" at {own[0]}:{own[1]} in {own[2]}: {own[3]}" if own else ""
    return f"{error['type']}: {_message(error)[:300]}{place}"


def _message(error: Record) -> str:
    return str(error["message"])


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
