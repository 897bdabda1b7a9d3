"""What is public in a module, and each public thing as a value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import griffe

from referee.adapters.reference.docstrings import sections
from referee.adapters.reference.exact import KEY
from referee.domain import documented
from referee.domain.documented import Documented, Parameter, Signature

Modules = dict[str, griffe.Module]
_VARIADIC = (griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword)
_LABELS = ("async", "abstractmethod", "cached", "classmethod", "staticmethod", "dataclass", "writable", "deletable")


class Collector:
    """Walks loaded modules. Aliases are followed by name, since a module may be hidden by what its package exports."""

    def __init__(self, modules: Modules, origin: str) -> None:
        self._modules, self._origin = modules, origin

    def module(self, name: str) -> Iterator[Documented]:
        """The module, then its public things by line; what it re-exports comes last, by name."""
        module = self._modules[name]
        yield self._thing(module, name, documented.MODULE)
        own: list[tuple[str, Any]] = []
        again: list[tuple[str, Any]] = []
        for member_name, member in module.members.items():
            if member.is_alias and self._exported(module, member_name, member):
                again.append((member_name, member))
            elif not member.is_alias and not member.is_module and self._public(module, member_name):
                other = self._same_as(member)
                (again if other else own).append((member_name, other or member))
        for member_name, member in sorted(own, key=lambda m: (m[1].lineno or 0, m[0])):
            yield from self._object(member, f"{name}.{member_name}")
        for member_name, alias in sorted(again, key=lambda m: m[0]):
            found = self._find(alias.target_path, set()) if alias.is_alias else alias
            if found is not None and not found.is_module:
                found = self._same_as(found) or found
                for thing in self._object(found, f"{name}.{member_name}"):
                    yield thing.model_copy(update={"target": found.path + thing.name[len(name + member_name) + 1 :]})

    def _public(self, module: griffe.Module, name: str) -> bool:
        special = name.startswith("__") and name.endswith("__")
        return name in _exports(module) or (not name.startswith("_") and not special)

    def _exported(self, module: griffe.Module, name: str, alias: Any) -> bool:
        """Whether a name from elsewhere is offered here: listed, imported `as` itself, or in a package's `__init__`."""
        if name in _exports(module):
            return True
        if module.exports is not None or name.startswith("_") or not module.is_init_module:
            return False
        return str(alias.target_path).split(".")[0] == module.path.split(".")[0]

    def _same_as(self, member: Any) -> Any:
        """The function or class that `other = name` gives another name; None for any other value."""
        value = member.value if member.is_attribute and member.annotation is None else None
        if not isinstance(value, griffe.ExprName | griffe.ExprAttribute):
            return None
        found = self._find(value.canonical_path, set())
        return found if found is not None and (found.is_function or found.is_class) else None

    def _find(self, path: str, seen: set[str]) -> Any:
        """The object a dotted path leads to, through other aliases; None if it is not among the sources."""
        if path in seen:
            return None
        name, rest = path, list[str]()
        while name and name not in self._modules:
            name, _, last = name.rpartition(".")
            rest.insert(0, last)
        if not name:
            return None
        found: Any = self._modules[name]
        for n, part in enumerate(rest):
            found = found.members.get(part)
            if found is None:
                return None
            if found.is_alias:
                return self._find(".".join([found.target_path, *rest[n + 1 :]]), seen | {path})
        return found

    def _object(self, thing: Any, name: str) -> Iterator[Documented]:
        """A function, attribute or class, and in a class its own public members."""
        if thing.is_class:
            yield self._thing(thing, name, documented.CLASS)
            for member_name, member in sorted(thing.members.items(), key=lambda m: (m[1].lineno or 0, m[0])):
                special = member_name.startswith("__") and member_name.endswith("__")
                if not member.is_alias and (special or not member_name.startswith("_")):
                    yield from self._object(member, f"{name}.{member_name}")
        elif thing.is_function:
            yield self._thing(thing, name, documented.FUNCTION)
        elif thing.is_attribute and "property" in thing.labels:
            yield self._thing(thing, name, documented.PROPERTY)
        elif not name.rpartition(".")[2].startswith("__"):
            yield self._thing(thing, name, thing.kind.value)

    def _thing(self, thing: Any, name: str, kind: str) -> Documented:
        exact: Mapping[str, Any] = thing.extra.get(KEY, {})
        more: dict[str, Any] = {"decorators": exact.get("decorators", ()), "value": exact.get("value")}
        if kind == documented.FUNCTION:
            more["parameters"], more["returns"] = _called(thing)
            more["overloads"] = tuple(
                Signature(parameters=p, returns=r) for p, r in map(_called, thing.overloads or ())
            )
        elif kind == documented.CLASS:
            more |= {"bases": exact.get("bases", ()), "inherited": _inherited(thing)}
        elif kind != documented.MODULE:
            more["returns"] = exact.get("annotation")
        docstring = thing.docstring.value if thing.docstring else None
        return Documented(
            path=self._path(thing),
            line=exact.get("line") or thing.lineno or (thing.parent.lineno if kind != documented.MODULE else 1) or 1,
            name=name,
            kind=kind,
            docstring=docstring,
            sections=sections(thing) if docstring else (),
            labels=tuple(n for n in _LABELS if n in thing.labels),
            **more,
        )

    def _path(self, thing: Any) -> str:
        file = thing.filepath
        return os.path.relpath(str(file[0] if isinstance(file, list) else file), self._origin)


def _exports(module: griffe.Module) -> frozenset[str]:
    return frozenset(str(name) for name in module.exports or ())


def _called(function: Any) -> tuple[tuple[Parameter, ...], str | None]:
    """The parameters and what is returned, as written; of a constructor that a decorator makes, as griffe has them."""
    exact = function.extra.get(KEY)
    rows = []
    for p in function.parameters:
        annotation, default = p.annotation, None if p.kind in _VARIADIC else p.default
        if exact is not None:
            annotation, default = exact["parameters"][p.name]
        rows.append(Parameter(name=p.name, kind=p.kind.value, annotation=_text(annotation), default=_text(default)))
    return tuple(rows), exact["returns"] if exact is not None else _text(function.returns)


def _text(written: Any) -> str | None:
    return None if written is None else str(written)


def _inherited(cls: griffe.Class) -> tuple[str, ...]:
    """Public members that a class has from bases among the sources, where they are defined."""
    try:
        members = cls.inherited_members
    except (ValueError, griffe.GriffeError, RecursionError):
        return ()  # the bases contradict each other or form a circle: Python would refuse the class
    return tuple(sorted(m.target_path for name, m in members.items() if not name.startswith("_")))
