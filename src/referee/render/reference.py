"""A program's interface as Markdown: one page for each module, or all of them in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from referee.domain.documented import CLASS, FUNCTION, MODULE, Documented, Parameter, Reference, Section, by_module
from referee.render.markdown import cell, fence

MADE_BY = "<!-- Made by `referee docs`. Change the docstrings, not this file. -->"
_WIDTH = 100
_BARE = {"variadic positional": "*", "variadic keyword": "**"}
_TITLES = {"other parameters": "Other parameters", "type parameters": "Type parameters"}


def pages(reference: Reference) -> Mapping[str, str]:
    """File names and their text: a page for each module, and `index.md` with a line for each."""
    made = {f"{name}.md": _page(things) for name, things in by_module(reference.things).items()}
    rows = [
        f"* [`{name}`]({name}.md)" + (f": {words}" if (words := _first(things[0])) else "")
        for name, things in by_module(reference.things).items()
    ]
    return {"index.md": "\n\n".join([MADE_BY, "# Reference", "\n".join(rows)]) + "\n", **made}


def whole(reference: Reference) -> str:
    """All modules on one page."""
    parts = [MADE_BY, *(_body(things) for things in by_module(reference.things).values())]
    return "\n\n".join(parts) + "\n"


def _page(things: list[Documented]) -> str:
    return f"{MADE_BY}\n\n{_body(things)}\n"


def _body(things: list[Documented]) -> str:
    module, *rest = things
    parts = [f"# `{module.name}`", *_docstring(module)]
    hidden = ""
    for thing in rest:
        if hidden and thing.name.startswith(hidden):
            continue  # the members of a re-exported class are told where it is defined
        hidden = ""
        if thing.target and thing.kind == CLASS and not _private(thing.target):
            hidden = f"{thing.name}."
        parts += _thing(thing, module.name, brief=bool(thing.target) and not _private(thing.target))
    return "\n\n".join(parts)


def _private(path: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in path.split("."))


def _thing(thing: Documented, module: str, *, brief: bool) -> Iterator[str]:
    local = thing.name[len(module) + 1 :]
    yield f"{'#' * min(6, 2 + local.count('.'))} {' '.join([*thing.labels, thing.kind])} `{local}`"
    if brief:
        yield f"Re-exported from `{thing.target}`."
        return
    yield fence("\n".join(_code(thing, local.rpartition(".")[2])), "python")
    if thing.inherited:
        yield "Inherits " + ", ".join(f"`{name}`" for name in thing.inherited) + "."
    yield from _docstring(thing)


def _code(thing: Documented, name: str) -> Iterator[str]:
    """What the thing is in Python, without its body."""
    for overload in thing.overloads:
        yield "@overload"
        yield _signature(thing, name, overload.parameters, overload.returns)
    yield from (f"@{decorator}" for decorator in thing.decorators)
    if thing.kind == FUNCTION:
        yield _signature(thing, name, thing.parameters, thing.returns)
    elif thing.kind == CLASS:
        yield f"class {name}" + (f"({', '.join(thing.bases)})" if thing.bases else "")
    elif thing.kind != MODULE:
        annotation = f": {thing.returns}" if thing.returns else ""
        yield f"{name}{annotation}" + (f" = {thing.value}" if thing.value else "")


def _signature(thing: Documented, name: str, parameters: Iterable[Parameter], returns: str | None) -> str:
    words, tail = list(_parameters(tuple(parameters))), f" -> {returns}" if returns else ""
    head = f"{'async ' if 'async' in thing.labels else ''}def {name}"
    short = f"{head}({', '.join(words)}){tail}"
    if len(short) <= _WIDTH and "\n" not in short:
        return short
    return "\n".join([f"{head}(", *(f"    {w}," for w in words), f"){tail}"])


def _parameters(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Parameters as in a signature, with the marks for those that only a position or only a name reaches."""
    starred = False
    for n, parameter in enumerate(parameters):
        if parameter.kind == "keyword-only" and not starred:
            starred = True
            yield "*"
        starred = starred or parameter.kind == "variadic positional"
        text = _BARE.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None:
            text += f" = {parameter.default}" if parameter.annotation is not None else f"={parameter.default}"
        yield text
        following = parameters[n + 1].kind if n + 1 < len(parameters) else ""
        if parameter.kind == "positional-only" and following != "positional-only":
            yield "/"


def _docstring(thing: Documented) -> Iterator[str]:
    for section in thing.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    if section.kind == "text":
        yield section.text
        return
    title = section.title or _TITLES.get(section.kind, section.kind.capitalize())
    if section.text:
        yield f"**{cell(title)}**: {section.text}"
        return
    yield f"**{cell(title)}**"
    if section.kind == "examples":
        for item in section.items:
            yield fence(item.text, "pycon") if item.name == "examples" else item.text
        return
    yield "\n".join(_row(item.name, item.annotation, item.text) for item in section.items)


def _row(name: str, annotation: str, text: str) -> str:
    known = f"`{name}`" if name else ""
    kind = f"(`{annotation}`)" if annotation and name else f"`{annotation}`" if annotation else ""
    head = " ".join(p for p in (known, kind) if p)
    body = text.replace("\n", "\n  ")
    return f"* {head}: {body}" if head and body else f"* {head or body}"


def _first(thing: Documented) -> str:
    """The first line of a docstring."""
    return cell((thing.docstring or "").strip().partition("\n")[0])
