"""Statements: one too many, in the wrong place or of the wrong kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.candidate import Splice
from referee.authors.search.operators.operator import BLOCKS, SIMPLE, Family, operator
from referee.authors.search.regions import FUNCTIONS, documents
from referee.authors.search.site import Site, Suggestion

_RETURN_NOTHING = ("sort", "reverse", "append", "extend", "update", "insert", "add", "clear", "remove", "setdefault")


@operator(Family.STATEMENT, 0.42, *SIMPLE, ast.Break, ast.Continue, *BLOCKS)
def removed(site: Site) -> Iterator[Suggestion]:
    """A statement goes."""
    node = site.stmt
    short = (node.end_lineno or node.lineno) - node.lineno < 6
    if site.whole and short and not documents(node):
        yield site.remove(0.6 if isinstance(node, BLOCKS) else 1.0)


@operator(Family.STATEMENT, 0.35, ast.If, ast.With, ast.Try)
def unconditional(site: Site) -> Iterator[Suggestion]:
    """`if a: b` becomes `b`, one level out."""
    node = site.node
    assert isinstance(node, ast.If | ast.With | ast.Try)
    if site.whole and not getattr(node, "orelse", []) and len(node.body) <= 4:
        yield Suggestion((Splice(*site.source.lines_of(node), _outdented(site, node, node.body)),))


@operator(Family.STATEMENT, 0.4, *SIMPLE)
def out_of_block(site: Site) -> Iterator[Suggestion]:
    """The last statement of a block moves behind it: a `return` inside a loop, for one."""
    node, holder = site.stmt, site.parents.get(site.stmt)
    if not site.whole or site.position == 0 or node is not site.block[-1]:
        return
    if isinstance(holder, BLOCKS) and holder.end_lineno == node.end_lineno:
        text = _outdented(site, holder, [node])
        yield Suggestion((Splice(*site.source.lines_of(node), text),), 1.3 if isinstance(node, ast.Return) else 1.0)


@operator(Family.STATEMENT, 0.35, *SIMPLE)
def into_block(site: Site) -> Iterator[Suggestion]:
    """The statement behind a block moves into it."""
    node = site.stmt
    if not site.whole or site.position == 0:
        return
    before = site.block[site.position - 1]
    if isinstance(before, ast.If | ast.For | ast.While | ast.With):
        start, end = site.source.lines_of(node)
        last = (getattr(before, "orelse", []) or before.body)[-1]
        indent = site.source.indent(last)
        text = site.source.text[start:end].replace(site.source.indent(node), indent, 1)
        if indent.strip(" \t") == "" and node.lineno == node.end_lineno:
            yield Suggestion((Splice(start, end, text),))


def _outdented(site: Site, holder: ast.stmt, body: list[ast.stmt]) -> str:
    deep, outer = site.source.indent(body[0]), site.source.indent(holder)
    start, end = site.source.lines_of(body[0])[0], site.source.lines_of(body[-1])[1]
    lines = site.source.text[start:end].splitlines(keepends=True)
    return "".join(outer + line[len(deep) :] if line.startswith(deep) else line for line in lines)


@operator(Family.STATEMENT, 0.4, *SIMPLE)
def statement_order(site: Site) -> Iterator[Suggestion]:
    """A statement and the next one change places."""
    node = site.stmt
    if not site.whole or node is site.block[-1]:
        return
    following = site.block[site.position + 1]
    if isinstance(following, SIMPLE) and site.source.alone(following):
        (start, middle), (other, end) = site.source.lines_of(node), site.source.lines_of(following)
        text = site.source.text
        if text[:end].endswith(("\n", "\r")):
            yield Suggestion((Splice(start, end, text[other:end] + text[middle:other] + text[start:middle]),))


@operator(Family.STATEMENT, 0.55, ast.Break, ast.Continue, ast.Pass)
def jump(site: Site) -> Iterator[Suggestion]:
    """`break` becomes `continue`, and so on."""
    own = site.text(site.stmt)
    for word in ("continue", "break", "pass", "raise", "return"):
        if word != own:
            yield site.rewrite(word, 1.0 if word in ("continue", "break") else 0.5)


@operator(Family.STATEMENT, 0.55, ast.Expr)
def kept_result(site: Site) -> Iterator[Suggestion]:
    """`a.strip()` as a statement becomes `a = a.strip()`; a lone call may become a `return`."""
    node = site.node
    assert isinstance(node, ast.Expr)
    call = node.value
    if isinstance(call, ast.Await):
        call = call.value
    if not isinstance(call, ast.Call):
        return
    text = site.text(node.value)
    if isinstance(call.func, ast.Attribute) and call.func.attr not in _RETURN_NOTHING:
        yield site.rewrite(f"{site.text(call.func.value)} = {text}")
    if call.args and isinstance(call.args[0], ast.Name):
        yield site.rewrite(f"{call.args[0].id} = {text}", 0.7)
    if site.in_function:
        yield site.rewrite(f"return {text}", 1.0 if node is site.block[-1] else 0.5)


@operator(Family.STATEMENT, 0.6, ast.Expr)
def yielded(site: Site) -> Iterator[Suggestion]:
    """`yield a` becomes `yield from a`, and the other way round."""
    node = site.node
    assert isinstance(node, ast.Expr)
    if isinstance(node.value, ast.Yield) and node.value.value is not None:
        yield site.rewrite(f"yield from {site.text(node.value.value)}")
    elif isinstance(node.value, ast.YieldFrom):
        yield site.rewrite(f"yield {site.text(node.value.value)}")


@operator(Family.CONSTANT, 0.55, *FUNCTIONS)
def mutable_default(site: Site) -> Iterator[Suggestion]:
    """A parameter's default list, dict or set is made anew for each call."""
    node = site.node
    assert isinstance(node, FUNCTIONS)
    first = next((s for s in node.body if not documents(s)), None)
    if first is None or not site.source.alone(first):
        return
    args = node.args.posonlyargs + node.args.args
    for arg, default in zip(reversed(args), reversed(node.args.defaults), strict=False):
        if isinstance(default, ast.List | ast.Dict | ast.Set | ast.Call):
            indent, line = site.source.indent(first), site.source.newline
            guard = f"{indent}if {arg.arg} is None:{line}{indent}    {arg.arg} = {site.text(default)}{line}"
            at = site.source.lines_of(first)[0]
            yield Suggestion((Splice(*site.source.span(default), "None"), Splice(at, at, guard)))


OPERATORS = (
    removed,
    unconditional,
    out_of_block,
    into_block,
    statement_order,
    jump,
    kept_result,
    yielded,
    mutable_default,
)
