"""All places of a region where an operator may act, in order of the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.ingredients import Ingredients
from referee.authors.search.regions import FUNCTIONS, Region, documents
from referee.authors.search.scope import Scope
from referee.authors.search.site import Site

_TYPES = ("annotation", "returns", "decorator_list", "type_params", "type_comment")


class Walk:
    """One walk over a region. Annotations, decorators and docstrings are not code to repair."""

    def __init__(self, region: Region, ingredients: Ingredients) -> None:
        self._region, self._ingredients = region, ingredients
        self._parents: dict[ast.AST, ast.AST] = {}

    def sites(self) -> Iterator[Site]:
        """The region's sites."""
        node = self._region.node
        for parent in ast.walk(node):
            for child in ast.iter_child_nodes(parent):
                # Contexts and operators are single objects shared by the whole tree.
                if not isinstance(child, ast.expr_context | ast.operator | ast.boolop | ast.unaryop | ast.cmpop):
                    self._parents[child] = parent
        yield from self._visit(node, node, Scope(self._region.source, None, node, None), False)

    def _visit(self, node: ast.AST, stmt: ast.stmt, scope: Scope, formatted: bool) -> Iterator[Site]:
        if isinstance(node, ast.stmt):
            stmt = node
        if isinstance(node, FUNCTIONS):
            outer = scope if scope.function else None
            scope = Scope(self._region.source, node, node, outer)
        if documents(node):
            return
        if isinstance(node, ast.stmt | ast.expr | ast.excepthandler) and not isinstance(node, ast.JoinedStr):
            yield Site(
                region=self._region,
                node=node,
                stmt=stmt,
                scope=scope,
                ingredients=self._ingredients,
                parents=self._parents,
                formatted=formatted,
            )
        for child in self._children(node):
            yield from self._visit(child, stmt, scope, formatted or isinstance(node, ast.JoinedStr))

    def _children(self, node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.FormattedValue) and self._placed(part.value):
                    yield part.value
            return
        for name, value in ast.iter_fields(node):
            if name in _TYPES or (isinstance(node, ast.arg) and name == "arg"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child

    def _placed(self, node: ast.expr) -> bool:
        """Whether the position of a node in a formatted string is right; before Python 3.12 it may not be."""
        try:
            found = ast.parse(self._region.source.segment(node), mode="eval").body
        except (SyntaxError, ValueError, IndexError):
            return False
        return ast.dump(found) == ast.dump(node)
