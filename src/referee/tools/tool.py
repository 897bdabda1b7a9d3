"""A tool: a function with a signature. Its schema, its description and the checks of its arguments come from there."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.ports import ToolSpec

Group = Literal[
    "files", "search", "execution", "planning", "delegation", "knowledge", "people", "time", "outside", "escalation"
]
Needs = Literal["", "shell", "judge"]
Work = Callable[..., Observation]
MOST_SAID = 5


@dataclass(frozen=True, kw_only=True)
class Tool:
    """What a model may call. `work` takes the room and the arguments; `needs` is made ready before the call."""

    name: str
    group: Group
    risk: Risk
    description: str
    arguments: type[BaseModel]
    work: Work
    needs: Needs = ""

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(name=self.name, description=self.description, parameters=_short(_schema(self.arguments)))

    def read(self, text: str) -> dict[str, Any]:
        """The arguments in a call's JSON text. Raises `ValueError` with all that is wrong, in words for a model."""
        try:
            given = as_object(text)
        except ValueError as wrong:
            raise ValueError(f"{wrong}; {self._wanted()}") from None
        try:
            read = self.arguments.model_validate_json(json.dumps(given))
        except ValidationError as wrong:
            said = [self._objection(dict(e)) for e in wrong.errors(include_url=False, include_input=False)[:MOST_SAID]]
            raise ValueError(f"{'; '.join(said)}; {self._wanted()}") from None
        return {name: getattr(read, name) for name in self.arguments.model_fields}

    def _wanted(self) -> str:
        fields = self.arguments.model_fields
        names = [f"{n}{' (required)' if f.is_required() else ''}" for n, f in fields.items()]
        return f"{self.name} takes {', '.join(names) or 'nothing'}"

    def _objection(self, error: Mapping[str, Any]) -> str:
        place = ".".join(str(p) for p in error["loc"])
        if error["type"] == "extra_forbidden":
            near = difflib.get_close_matches(place, list(self.arguments.model_fields), n=1)
            return f"{place} is no argument" + (f", did you mean {near[0]}?" if near else "")
        if error["type"] == "missing":
            return f"{place} is missing"
        return f"{place}: {error['msg']}"


def as_object(text: str) -> dict[str, Any]:
    """The JSON object in a call's arguments; nothing is an empty one. Raises `ValueError` in words for a model."""
    try:
        given = json.loads(text or "{}")
    except ValueError as wrong:
        raise ValueError(f"the arguments are no valid JSON ({wrong})") from None
    if not isinstance(given, dict):
        raise ValueError("the arguments are not a JSON object")
    return given


def tool(group: Group, risk: Risk, *, needs: Needs = "") -> Callable[[Work], Tool]:
    """Make a tool of a function: its parameters after the room are the arguments, its docstring the description."""

    def made(work: Work) -> Tool:
        name = work.__name__.rstrip("_")
        return Tool(
            name=name,
            group=group,
            risk=risk,
            description=inspect.getdoc(work) or "",
            arguments=arguments_of(name, work),
            work=work,
            needs=needs,
        )

    return made


def arguments_of(name: str, work: Work) -> type[BaseModel]:
    """A strict model of a function's parameters after the first."""
    hints = get_type_hints(work, include_extras=True)
    parameters = list(inspect.signature(work).parameters.values())[1:]
    fields: dict[str, Any] = {
        p.name: (hints[p.name], ... if p.default is inspect.Parameter.empty else p.default) for p in parameters
    }
    config = ConfigDict(strict=True, extra="forbid", frozen=True)
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    return model


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    return {"properties": {}, **schema}


def _short(schema: Any, known: Mapping[str, Any] | None = None) -> Any:
    """The schema without what says nothing and is sent with every call: titles, empty defaults, names used once."""
    if isinstance(schema, list):
        return [_short(v, known) for v in schema]
    if not isinstance(schema, dict):
        return schema
    known = schema.get("$defs", known) or {}
    if "$ref" in schema:
        return _short(known[schema["$ref"].rpartition("/")[2]], known)
    choices = schema.get("anyOf", [])
    if {"type": "null"} in choices and len(choices) == 2:  # left out means the same
        schema = {**schema, **next(c for c in choices if c != {"type": "null"})}
        del schema["anyOf"]
        return _short(schema, known)
    return {
        k: {n: _short(v, known) for n, v in value.items()} if k == "properties" else _short(value, known)
        for k, value in schema.items()
        if not (k == "$defs" or (k == "title" and isinstance(value, str)) or (k == "default" and value in _EMPTY))
    }


_EMPTY: tuple[Any, ...] = ("", None, [], {})
