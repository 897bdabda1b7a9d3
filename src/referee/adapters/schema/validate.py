"""JSON Schema, draft 2020-12 unless the schema names another; references stay within the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.adapters.schema.documents import Document, documents
from referee.domain.errors import UsageError
from referee.domain.violation import Violation, place

_LONGEST = 300


class Schema:
    """A checked schema."""

    def __init__(self, validator: Any, name: str) -> None:
        self._validator, self._name = validator, name

    def violations(self, document: Document) -> Iterator[Violation]:
        """What is wrong with a document, from its beginning to its end.

        Raises `UsageError` for a reference that leads out of the schema: nothing is fetched.
        """
        from referencing.exceptions import Unresolvable

        try:
            found = sorted(self._validator.iter_errors(document.value), key=lambda e: [str(p) for p in e.absolute_path])
        except Unresolvable as lost:
            raise UsageError(
                f"{self._name} refers to {lost.ref}, which is not in it; nothing is fetched, so put it under $defs"
            ) from None
        except RecursionError:
            raise UsageError(f"{self._name} refers to itself without end for {document.shown}") from None
        for error in found:
            for each in _deepest(error):
                path, words = place(tuple(each.absolute_path)), " ".join(each.message.split())
                yield Violation(file=document.shown, path=path, message=_cut(words))


def schema(file: str) -> Schema:
    """The schema in a file. Raises `UsageError` if it is none, with the place in it."""
    # jsonschema has no types of its own; what it gives is used as Any.
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    read, wrong = documents(file)
    if wrong or len(read) != 1:
        raise UsageError(wrong[0].words if wrong else f"{file} holds {len(read)} documents; a schema is one")
    value = read[0].value
    named = value.get("$schema") if isinstance(value, dict) else None
    kind = validator_for(value, default=None) if named else Draft202012Validator
    if kind is None:
        raise UsageError(f"{file} is written in {named}, which is not known here; 2020-12 and older drafts are")
    try:
        kind.check_schema(value)
    except SchemaError as error:
        at = place(tuple(error.absolute_path))
        raise UsageError(f"{file} is no valid schema: {at}: {_cut(error.message)}") from None
    return Schema(kind(value, registry=Registry()), file)


def _deepest(error: Any) -> Iterator[Any]:
    """Where one of several forms was nearly met, what that one lacks; else the error itself."""
    from jsonschema.exceptions import best_match

    if error.validator in ("anyOf", "oneOf") and error.context:
        near = best_match(iter([error]))
        if near is not None and len(near.absolute_path) > len(error.absolute_path):
            yield near
            return
    yield error


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST // 2] + " … " + words[-_LONGEST // 2 :]
