"""What a program's source says of its interface, and what is wrong with what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import Field

from referee.domain.value import Value

MODULE, CLASS, FUNCTION, PROPERTY = "module", "class", "function", "property"
_VARIADIC_KEYWORD = "variadic keyword"
# What the caller never names, and what is written for the language rather than for a reader.
_RECEIVERS = ("self", "cls")
_NAMED = re.compile(r"[*\\]*([^\W\d]\w*)")  # `*args` is the parameter args


class Parameter(Value):
    """One parameter; annotation and default are as written, None where there is none."""

    name: str
    kind: str
    annotation: str | None = None
    default: str | None = None


class Signature(Value):
    """One way to call an overloaded function."""

    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None


class Item(Value):
    """One row of a docstring's section: a parameter, an exception, what is returned."""

    name: str = ""
    annotation: str = ""
    text: str = ""


class Section(Value):
    """One part of a docstring: prose, or rows under a title; `kind` as the docstring's style names it."""

    kind: str
    title: str = ""
    text: str = ""
    items: tuple[Item, ...] = ()


class Documented(Value):
    """One public thing. `path` and `line` say where it is defined, `name` is what a user of it writes.

    `target` is where a re-exported thing is defined, `inherited` are members of bases in the same sources, `value` is
    what an attribute is set to. `sections` are the parts of the docstring.
    """

    path: str
    line: int
    name: str
    kind: str
    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None
    docstring: str | None = None
    decorators: tuple[str, ...] = ()
    overloads: tuple[Signature, ...] = ()
    bases: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    target: str = ""
    value: str | None = None
    labels: tuple[str, ...] = ()
    sections: tuple[Section, ...] = Field(default=(), exclude=True)

    def row(self) -> dict[str, object]:
        """What `docs --json` prints: these seven keys always, the others where they say something."""
        always = ("path", "line", "name", "kind", "parameters", "returns", "docstring")
        return {k: v for k, v in self.model_dump(mode="json").items() if k in always or v not in ([], "", None)}


class Reference(Value):
    """The interface of some sources; `unread` are the files that could not be read, with the reason."""

    things: tuple[Documented, ...]
    unread: tuple[tuple[str, str], ...] = ()


class Objection(Value):
    """Something wrong with a docstring, or a file that has no readable source."""

    path: str
    line: int
    rule: str
    message: str

    @property
    def words(self) -> str:
        """The place first, as compilers have it."""
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def objections(reference: Reference) -> tuple[Objection, ...]:
    """Docstrings that name parameters which do not exist, files without readable source, what has no docstring."""
    found = [Objection(path=p, line=1, rule="unreadable", message=why) for p, why in reference.unread]
    own = [t for t in reference.things if not t.target]
    by_name = {t.name: t for t in own}
    for thing in own:
        found += _invented(thing, by_name)
    found += [_silent(t) for t in own if _speaks(t) and not (t.docstring or "").strip()]
    return tuple(found)


def _speaks(thing: Documented) -> bool:
    """Whether a reader expects a docstring: not of attributes, nor of what the language calls by itself."""
    last = thing.name.rpartition(".")[2]
    return thing.kind in (MODULE, CLASS, FUNCTION, PROPERTY) and not (last.startswith("__") and last.endswith("__"))


def _silent(thing: Documented) -> Objection:
    message = f"{thing.kind} {thing.name} has no docstring"
    return Objection(path=thing.path, line=thing.line, rule="undocumented", message=message)


def _invented(thing: Documented, by_name: dict[str, Documented]) -> Iterator[Objection]:
    """Parameters that only the docstring knows. A class's docstring speaks of its constructor."""
    called: Documented | None = thing
    if thing.kind == CLASS:
        called = by_name.get(f"{thing.name}.__init__") or by_name.get(f"{thing.name}.__new__")
    if called is None or called.kind != FUNCTION:
        return
    every = [*called.parameters, *(p for o in called.overloads for p in o.parameters)]
    if any(p.kind == _VARIADIC_KEYWORD for p in every):
        return  # a name it documents may be one of those
    known = {p.name for p in every}
    named = [m[1] for s in thing.sections if s.kind == "parameters" for i in s.items if (m := _NAMED.match(i.name))]
    for name in dict.fromkeys(n for n in named if n not in known):
        have = ", ".join(p.name for p in called.parameters if p.name not in _RECEIVERS) or "none"
        message = f"the docstring of {thing.name} names the parameter {name}, which does not exist (there are: {have})"
        yield Objection(path=thing.path, line=thing.line, rule="no-such-parameter", message=message)


def by_module(things: Sequence[Documented]) -> dict[str, list[Documented]]:
    """The things of each module, in order, under the module's name."""
    modules = {t.name: [t] for t in things if t.kind == MODULE}
    for thing in things:
        if thing.kind != MODULE:
            modules[_module(thing.name, modules)].append(thing)
    return modules


def _module(name: str, modules: dict[str, list[Documented]]) -> str:
    while name not in modules:
        name = name.rpartition(".")[0]
    return name
