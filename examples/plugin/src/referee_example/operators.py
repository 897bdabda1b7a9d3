"""An operator: small changes that the search tries at one kind of node of the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from referee.authors.search.operators import Family, operator
from referee.authors.search.site import Site, Suggestion


@operator(Family.CALL, 0.3, ast.BinOp)
def rounded(site: Site) -> Iterator[Suggestion]:
    """A quotient is rounded to cents: `a / b` becomes `round(a / b, 2)`. The prior says how likely that is."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield site.replace(node, f"round({site.text(node)}, 2)")
