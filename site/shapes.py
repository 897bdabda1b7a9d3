"""Types in words, from their JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from referee.config import Config
from referee.config.keys import Key

_LIMITS = {
    "minimum": "at least {}", "maximum": "at most {}", "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}", "minLength": "not empty",
}  # fmt: skip
_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}


def described(key: Key) -> str:
    """The type of a setting, as a cell of a table."""
    schema = _settings()
    part: Mapping[str, Any] = schema
    for name in key.field.split("."):
        part = _resolved(part, schema)["properties"][name]
    return words(part, schema)


@cache
def _settings() -> Mapping[str, Any]:
    return Config.model_json_schema()


def table(model: type[BaseModel]) -> str:
    """A model's fields, with what its docstring says before them."""
    schema = model.model_json_schema()
    return "\n\n".join([*_said(schema), _fields(schema, schema)])


def document(schema: Mapping[str, Any]) -> str:
    """The fields of a JSON document, then those of the objects in it, each under its own heading."""
    parts = [*_said(schema), _fields(schema, schema)]
    for name, inner in schema.get("$defs", {}).items():
        if "properties" in inner:
            parts += [f"#### {name}", *_said(inner), _fields(inner, schema)]
    return "\n\n".join(parts)


def words(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A type as a reader says it, as Markdown for a cell."""
    if "$ref" in part:
        name = str(part["$ref"]).rpartition("/")[2]
        target = _resolved(part, schema)
        return words(target, schema) if "properties" not in target else name
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return ", ".join(f"`{e}`" for e in part["enum"])
    if choices := part.get("anyOf"):
        return " or ".join(dict.fromkeys(words(c, schema) for c in choices))
    if part.get("type") == "array":
        items = part.get("items") or next(iter(part.get("prefixItems", ())), {})
        return f"list of {words(items, schema)}"
    if part.get("type") == "object":
        inner = part.get("additionalProperties")
        return f"object of {words(inner, schema)}" if isinstance(inner, dict) and inner else "object"
    kind = _WORDS.get(str(part.get("type")), "anything")
    limits = [form.format(part[name]) for name, form in _LIMITS.items() if name in part]
    return ", ".join([kind, *limits])


def _fields(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    required = part.get("required", ())
    rows = ["| key | type | default |", "|---|---|---|"]
    for name, field in part.get("properties", {}).items():
        value = "required" if name in required and "default" not in field else f"`{json.dumps(field.get('default'))}`"
        rows.append(f"| `{name}` | {words(field, schema)} | {value.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def _said(part: Mapping[str, Any]) -> Iterator[str]:
    for paragraph in str(part.get("description", "")).split("\n\n"):
        if paragraph.strip():
            yield " ".join(paragraph.split())


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in part:
        part = schema["$defs"][str(part["$ref"]).rpartition("/")[2]]
    return part
