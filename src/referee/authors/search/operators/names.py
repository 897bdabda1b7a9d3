"""Names and attributes: the wrong variable, the wrong attribute, one too many or too few."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from referee.authors.search.candidate import Splice
from referee.authors.search.ingredients import alike
from referee.authors.search.operators.operator import Family, operator
from referee.authors.search.site import Site, Suggestion

# What is confused with what, both ways where both are listed.
CONFUSED = {
    "any": ("all",), "all": ("any",), "min": ("max",), "max": ("min",), "list": ("tuple", "set", "sorted"),
    "sorted": ("list", "reversed"), "set": ("list", "frozenset"), "tuple": ("list",), "append": ("extend", "insert"),
    "extend": ("append",), "startswith": ("endswith",), "endswith": ("startswith",), "lstrip": ("strip", "rstrip"),
    "rstrip": ("strip", "lstrip"), "strip": ("lstrip", "rstrip"), "lower": ("upper", "casefold"),
    "upper": ("lower", "capitalize"), "title": ("capitalize", "upper"), "capitalize": ("title", "upper"),
    "find": ("rfind", "index"), "rfind": ("find",), "index": ("rindex", "find"), "rindex": ("index",),
    "split": ("rsplit", "splitlines"), "rsplit": ("split",), "partition": ("rpartition",),
    "rpartition": ("partition",), "removeprefix": ("removesuffix",), "removesuffix": ("removeprefix",),
    "keys": ("values", "items"), "values": ("keys", "items"), "items": ("keys", "values"), "pop": ("popleft", "get"),
    "popleft": ("pop",), "appendleft": ("append",), "match": ("search", "fullmatch"), "search": ("match", "fullmatch"),
    "fullmatch": ("match", "search"), "floor": ("ceil", "trunc"), "ceil": ("floor",), "int": ("float", "round"),
    "float": ("int",), "round": ("int", "ceil"), "str": ("repr",), "repr": ("str",), "isinstance": ("issubclass",),
    "issubclass": ("isinstance",), "add": ("update", "discard"), "update": ("add", "setdefault"),
    "remove": ("discard", "pop"), "discard": ("remove",), "union": ("intersection", "difference"),
    "intersection": ("union", "difference"), "difference": ("intersection", "symmetric_difference"),
    "issubset": ("issuperset",), "issuperset": ("issubset",), "isdigit": ("isnumeric", "isalnum"),
    "isalpha": ("isalnum",), "isalnum": ("isalpha",), "ljust": ("rjust",), "rjust": ("ljust",), "get": ("pop",),
    "encode": ("decode",), "decode": ("encode",), "read": ("readlines",), "sum": ("max", "len"), "len": ("sum",),
    "islower": ("isupper",), "isupper": ("islower",), "zip": ("zip_longest",), "heappush": ("heappushpop",),
}  # fmt: skip


def _loaded(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _called(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node


@operator(Family.NAME, 0.8, ast.Name)
def variable(site: Site) -> Iterator[Suggestion]:
    """A variable becomes another one of the scope, similar names first."""
    node = site.node
    assert isinstance(node, ast.Name)
    names = site.scope.names
    if node.id not in names:
        return
    weight = 1.0 if _loaded(node) and not _called(site) else 0.5
    for other in alike(node.id, names):
        fit = 1.0 if site.scope.exchangeable(node.id, other) else 0.5
        yield site.replace(node, other, weight * fit)


@operator(Family.NAME, 0.55, ast.Name)
def unknown_name(site: Site) -> Iterator[Suggestion]:
    """A name that nothing defines becomes one that exists, or an attribute of `self`."""
    node = site.node
    assert isinstance(node, ast.Name)
    here = site.ingredients.here
    known = (*site.scope.names, *here.functions)
    if not _loaded(node) or node.id in site.scope.names:
        return
    if site.scope.receiver and node.id in here.attributes.get(site.scope.receiver, ()):
        yield site.replace(node, f"{site.scope.receiver}.{node.id}")
    for other in alike(node.id, known, at_least=0.5, limit=6):
        weight = 1.0 if node.id not in here.functions else 0.7
        yield site.replace(node, other, weight * site.ingredients.blame(node.id))


@operator(Family.NAME, 0.6, ast.Name, ast.Attribute)
def confused(site: Site) -> Iterator[Suggestion]:
    """`any` becomes `all`, `lstrip` becomes `strip`: names that are mistaken for each other."""
    node = site.node
    assert isinstance(node, ast.Name | ast.Attribute)
    if isinstance(node, ast.Attribute):
        for other in CONFUSED.get(node.attr, ()) if _called(site) else ():
            yield _attribute(site, node, other)
    elif node.id not in site.scope.names:
        for other in CONFUSED.get(node.id, ()):
            yield site.replace(node, other)


def _attribute(site: Site, node: ast.Attribute, other: str, weight: float = 1.0) -> Suggestion:
    end = site.source.span(node)[1]
    return Suggestion((Splice(end - len(node.attr), end, other),), weight)


@operator(Family.NAME, 0.65, ast.Attribute)
def attribute(site: Site) -> Iterator[Suggestion]:
    """An attribute becomes another one that the same object has elsewhere, or one with a similar name."""
    node = site.node
    assert isinstance(node, ast.Attribute)
    base = site.text(node.value)
    known = _siblings(site, base)
    weight = (0.6 if _called(site) else 1.0) * (1.0 if _loaded(node) else 0.5) * site.ingredients.blame(node.attr)
    siblings = alike(node.attr, known, limit=6)
    for other in siblings:
        yield _attribute(site, node, other, weight)
    every = (*site.ingredients.here.every_attribute(), *site.ingredients.near.every_attribute())
    for other in alike(node.attr, every, at_least=0.5, limit=6):
        if other not in siblings:
            yield _attribute(site, node, other, 0.9 * weight)


def _siblings(site: Site, base: str) -> Iterable[str]:
    found = site.ingredients
    return (*found.here.attributes.get(base, ()), *found.tests.attributes.get(base, ()))


@operator(Family.NAME, 0.3, ast.Attribute)
def attribute_dropped(site: Site) -> Iterator[Suggestion]:
    """`a.b` becomes `a`."""
    node = site.node
    assert isinstance(node, ast.Attribute)
    if _loaded(node) and not _called(site):
        yield site.replace(node, site.text(node.value))


@operator(Family.NAME, 0.3, ast.Name)
def attribute_added(site: Site) -> Iterator[Suggestion]:
    """`a` becomes `a.b` for an attribute that `a` has elsewhere, or `self.a`."""
    node = site.node
    assert isinstance(node, ast.Name)
    here, receiver = site.ingredients.here, site.scope.receiver
    if _called(site) or isinstance(site.parent, ast.Attribute):
        return
    if receiver and node.id in here.attributes.get(receiver, ()):
        yield site.replace(node, f"{receiver}.{node.id}", 2.0)
    if _loaded(node) and node.id in site.scope.names:
        for attr in list(here.attributes.get(node.id, ()))[:5]:
            yield site.replace(node, f"{node.id}.{attr}")


@operator(Family.NAME, 0.35, ast.Attribute)
def local_instead(site: Site) -> Iterator[Suggestion]:
    """`self.a` becomes the parameter `a`, or another local name."""
    node = site.node
    assert isinstance(node, ast.Attribute)
    if _loaded(node) and not _called(site):
        for name in alike(node.attr, site.scope.names, limit=4):
            yield site.replace(node, name)
        if node.attr in site.scope.names:
            yield site.replace(node, node.attr, 1.5)


@operator(Family.NAME, 0.38, ast.Subscript, ast.Attribute, ast.Call, ast.BinOp)
def other_expression(site: Site) -> Iterator[Suggestion]:
    """An expression becomes another one of the same function, similar ones first."""
    node = site.node
    assert isinstance(node, ast.expr)
    text = site.text(node)
    if _called(site) or node.lineno != node.end_lineno or len(text) > 60:
        return
    others = [e for e in site.scope.expressions if text not in e]
    if isinstance(node, ast.Subscript | ast.Attribute) and not _loaded(node):
        others = [e for e in others if "[" in e and not e.endswith(")")]
    for other in alike(text, others, limit=8):
        yield site.replace(node, other)
    if _loaded(node) or not hasattr(node, "ctx"):
        for name in site.scope.names[:8]:
            yield site.replace(node, name, 0.8)


OPERATORS = (
    variable,
    unknown_name,
    confused,
    attribute,
    attribute_dropped,
    attribute_added,
    local_instead,
    other_expression,
)
