"""Constants: numbers near the right one, booleans, None, and constants that are used elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.ingredients import alike
from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.regions import documents
from referee.authors.search.site import Site, Suggestion


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _documents(site: Site) -> bool:
    return site.parent is not None and documents(site.parent)


@operator(Family.CONSTANT, 0.75, ast.Constant)
def number(site: Site) -> Iterator[Suggestion]:
    """A number becomes its neighbours, 0, 1, its negative, its double, ten times or a tenth."""
    assert isinstance(site.node, ast.Constant)
    value = site.node.value
    if type(value) is int:
        near = (value + 1, value - 1, 0, 1, -value, 2 * value)
        for other in dict.fromkeys((*near, value * 10, value // 10, value * 100, value // 100)):
            if other != value:
                yield site.replace(site.node, str(other), 1.0 if other in near else 0.6)
    elif type(value) is float:
        for real in dict.fromkeys((value * 10, value / 10, 1 - value, -value, 0.0, 1.0, value * 100, value / 100)):
            if real != value:
                yield site.replace(site.node, f"{real:.12g}" if real != int(real) else repr(real))


@operator(Family.CONSTANT, 0.45, ast.Constant)
def known_number(site: Site) -> Iterator[Suggestion]:
    """A number becomes another one of the function, the failing tests or the file."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if not _is_number(node.value):
        return
    own = site.text(node)
    known = dict.fromkeys((*site.scope.numbers, *site.ingredients.tests.numbers, *site.ingredients.here.numbers))
    for other in [k for k in known if k != own][:10]:
        yield site.replace(node, other)


@operator(Family.CONSTANT, 0.4, ast.Constant)
def named_number(site: Site) -> Iterator[Suggestion]:
    """A number becomes a name of the scope."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if _is_number(node.value) and not isinstance(site.parent, ast.Subscript):
        for name in site.scope.names[:8]:
            yield site.replace(node, name)


@operator(Family.CONSTANT, 0.8, ast.Constant)
def boolean(site: Site) -> Iterator[Suggestion]:
    """True becomes False or None, and the other way round."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bool):
        yield site.replace(node, str(not node.value))
        yield site.replace(node, "None", 0.4)


@operator(Family.CONSTANT, 0.35, ast.Constant)
def nothing(site: Site) -> Iterator[Suggestion]:
    """None becomes another empty value."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if node.value is None and not isinstance(site.parent, ast.Compare):
        for text in ("[]", "False", "0", '""', "{}", "True"):
            yield site.replace(node, text)


@operator(Family.CONSTANT, 0.4, ast.List, ast.Dict, ast.Tuple, ast.Set)
def empty(site: Site) -> Iterator[Suggestion]:
    """`[]` becomes `[[]]`, `[name]`, `{}`, `None` and the like."""
    node = site.node
    assert isinstance(node, ast.List | ast.Dict | ast.Tuple | ast.Set)
    if (node.keys if isinstance(node, ast.Dict) else node.elts) or _stored(node):
        return
    if isinstance(node, ast.List):
        yield site.replace(node, "[[]]")
        for name in site.scope.names:
            yield site.replace(node, f"[{name}]")
    for text in ("[]", "{}", "set()", "()", "None"):
        if text != site.text(node):
            yield site.replace(node, text, 0.7)


def _stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


@operator(Family.STRING, 0.5, ast.Constant)
def known_string(site: Site) -> Iterator[Suggestion]:
    """A string becomes a similar one from the failing tests or the file, the empty one, or a space."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if not isinstance(node.value, str) or _documents(site) or len(node.value) > 40:
        return
    tests, here = site.ingredients.tests.strings, site.ingredients.here.strings
    least = 0.5 if len(node.value) > 3 else 0.0
    for other in alike(node.value, (*tests, *here), at_least=least, limit=8):
        yield site.replace(node, _quoted(site, node, other))
    if len(node.value) <= 3:
        for other in ("", " ", ", ", "\n"):
            if other != node.value:
                yield site.replace(node, _quoted(site, node, other), 0.5)


@operator(Family.STRING, 0.6, ast.Constant)
def known_key(site: Site) -> Iterator[Suggestion]:
    """A key that is looked up becomes another one of the file or the failing tests."""
    node = site.node
    assert isinstance(node, ast.Constant)
    here, tests = site.ingredients.here.keys, site.ingredients.tests.keys
    if isinstance(node.value, str) and node.value in here:
        weight = site.ingredients.blame(node.value)
        for other in alike(node.value, (*here, *tests), limit=12):
            yield site.replace(node, _quoted(site, node, other), weight)


@operator(Family.STRING, 0.45, ast.Constant)
def formatted_string(site: Site) -> Iterator[Suggestion]:
    """`"{name}"` becomes `f"{name}"` when the name is in scope."""
    node = site.node
    assert isinstance(node, ast.Constant)
    text = site.text(node)
    if isinstance(node.value, str) and text[:1] in "\"'" and any(f"{{{n}" in node.value for n in site.scope.names):
        yield site.replace(node, f"f{text}")


@operator(Family.STRING, 0.3, ast.Constant)
def string_case(site: Site) -> Iterator[Suggestion]:
    """A string changes its case or loses the space around it."""
    node = site.node
    assert isinstance(node, ast.Constant)
    if not isinstance(node.value, str) or _documents(site) or not 0 < len(node.value) <= 40:
        return
    value = node.value
    changed = (value.strip(), value + " ", " " + value, value.lower(), value.upper(), value.capitalize(), value + "\n")
    for other in dict.fromkeys(changed):
        if other != value:
            yield site.replace(node, _quoted(site, node, other))


def _quoted(site: Site, node: ast.Constant, value: str) -> str:
    """A literal for `value` with the quotes the file uses at this place."""
    text = repr(value)
    if site.text(node).startswith('"') and '"' not in value and text.startswith("'"):
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


OPERATORS = (
    number,
    known_number,
    named_number,
    boolean,
    nothing,
    empty,
    known_string,
    known_key,
    formatted_string,
    string_case,
)
