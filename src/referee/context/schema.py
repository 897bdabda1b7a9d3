"""The JSON Schemas of what models answer, as strict as a schema can say it."""

from __future__ import annotations

import functools
from typing import Any

from referee.domain.opinion import Opinion
from referee.domain.proposal import PatchProposal


@functools.cache
def proposal_schema() -> dict[str, Any]:
    """The schema of `PatchProposal`, with a file spelled out as its four legal forms.

    A decoder that is bound by the schema can then not leave out the change itself, which it would if `edits` and
    `content` were merely optional. Everything that fits is a `PatchProposal` but for lengths and duplicate names.
    """
    schema: dict[str, Any] = _untitled(PatchProposal.model_json_schema())
    parts = schema["$defs"]["ProposedFile"]["properties"]
    some_edits = {**parts["edits"], "minItems": 1}
    del some_edits["default"]
    forms = [
        _form(parts, "modify", {"edits": some_edits}),
        _form(parts, "modify", {"content": {"type": "string"}}),
        _form(parts, "create", {"content": {"type": "string"}}),
        _form(parts, "delete", {}),
    ]
    schema["$defs"]["ProposedFile"] = {"anyOf": forms}
    return schema


@functools.cache
def opinion_schema() -> dict[str, Any]:
    """The schema of `Opinion`."""
    schema: dict[str, Any] = _untitled(Opinion.model_json_schema())
    return schema


def _form(parts: dict[str, Any], action: str, change: dict[str, Any]) -> dict[str, Any]:
    # The reason comes before the change: what is written first guides what follows.
    properties = {
        "path": parts["path"],
        "action": {"type": "string", "enum": [action]},
        "rationale": parts["rationale"],
        **change,
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _untitled(schema: Any) -> Any:
    """Without titles and descriptions, which repeat the names and the rules."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        k: _named(v) if k in ("properties", "$defs") else _untitled(v) for k, v in schema.items() if k not in _PROSE
    }


def _named(schemas: dict[str, Any]) -> dict[str, Any]:
    return {name: _untitled(schema) for name, schema in schemas.items()}


_PROSE = frozenset({"title", "description"})
