"""One node of a region together with all that an operator may look at, and the edits it can make there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from referee.authors.search.candidate import Splice
from referee.authors.search.ingredients import Ingredients
from referee.authors.search.precedence import binding, parenthesised, required
from referee.authors.search.regions import FUNCTIONS, Region
from referee.authors.search.scope import Scope
from referee.authors.search.source import Located, Source

LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An edit an operator makes, and how likely it is among the operator's own (1 is the operator's prior)."""

    splices: tuple[Splice, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """`node` in its region. `stmt` is the innermost statement around it, or the node itself."""

    region: Region
    node: ast.AST
    stmt: ast.stmt
    scope: Scope
    ingredients: Ingredients
    parents: Mapping[ast.AST, ast.AST]
    formatted: bool = False  # inside a formatted string

    @property
    def source(self) -> Source:
        """The file."""
        return self.region.source

    @property
    def parent(self) -> ast.AST | None:
        """What directly holds the node."""
        return self.parents.get(self.node)

    def text(self, node: Located) -> str:
        """A node's own text."""
        return self.source.segment(node)

    def operand(self, node: ast.expr, level: int) -> str:
        """A node's text, in parentheses if it binds less tightly than `level`."""
        text = self.text(node)
        return f"({text})" if binding(node) < level and not text.startswith("(") else text

    # --- edits to expressions ------------------------------------------------------------------------------

    def replace(self, node: ast.expr, text: str, weight: float = 1.0) -> Suggestion:
        """Put `text` in the place of an expression, parenthesised where the place asks for it."""
        start, end = self.source.span(node)
        if self._enclosed(node, start, end):
            if "\n" in self.source.text[start:end] or self._touches_word(start - 1, end + 1):
                return Suggestion((Splice(start, end, text),), weight)
            start, end = start - 1, end + 1
        text = parenthesised(text, required(self.parents.get(node), node))
        return Suggestion((Splice(start, end, text),), weight)

    def exchange(self, a: Located, b: Located, weight: float = 1.0) -> Suggestion:
        """Let two nodes, `a` before `b`, change places."""
        spans = self.source.span(a), self.source.span(b)
        return Suggestion((Splice(*spans[0], self.text(b)), Splice(*spans[1], self.text(a))), weight)

    def token(self, left: Located, right: Located, old: str, new: str, weight: float = 1.0) -> Iterator[Suggestion]:
        """Replace the operator `old` between two nodes; nothing if it is not found there exactly once."""
        start, end = self.source.span(left)[1], self.source.span(right)[0]
        pattern = r"\s+".join(map(re.escape, old.split()))
        found = list(re.finditer(pattern, self.source.text[start:end]))
        if len(found) == 1:
            first, last = start + found[0].start(), start + found[0].end()
            if new[0].isalpha() and self._touches_word(first, last):
                new = f" {new} "
            yield Suggestion((Splice(first, last, new),), weight)

    def _touches_word(self, start: int, end: int) -> bool:
        """Whether a word put in this place would run into its neighbours."""
        around = self.source.text[max(0, start - 1) : start] + self.source.text[end : end + 1]
        return any(c.isalnum() or c == "_" for c in around)

    def _enclosed(self, node: ast.expr, start: int, end: int) -> bool:
        """Whether the node has parentheses of its own (those of a call are the call's)."""
        text, holder = self.source.text, self.parents.get(node)
        own = not isinstance(holder, ast.ClassDef) and not (isinstance(holder, ast.Call) and holder.func is not node)
        return own and text[max(0, start - 1) : start] == "(" and text[end : end + 1] == ")"

    # --- edits to statements -------------------------------------------------------------------------------

    @property
    def block(self) -> list[ast.stmt]:
        """The list of statements that holds the statement; empty when it is not in one."""
        holder = self.parents.get(self.stmt)
        for name in ("body", "orelse", "finalbody"):
            found = getattr(holder, name, None)
            if isinstance(found, list) and self.stmt in found:
                return found
        return []

    @property
    def position(self) -> int:
        """The statement's place in its block."""
        return self.block.index(self.stmt)

    @property
    def whole(self) -> bool:
        """Whether the statement stands in a block on lines of its own, so that lines may come and go."""
        branch = self.source.text.startswith("elif", self.source.span(self.stmt)[0])
        return bool(self.block) and not branch and self.source.alone(self.stmt)

    def rewrite(self, text: str, weight: float = 1.0) -> Suggestion:
        """Put `text` in the place of the statement."""
        start, end = self.source.span(self.stmt)
        return Suggestion((Splice(start, end, text),), weight)

    def remove(self, weight: float = 1.0) -> Suggestion:
        """Take the statement away; the last one of a block becomes `pass`."""
        if len(self.block) == 1:
            return self.rewrite("pass", weight)
        return Suggestion((Splice(*self.source.lines_of(self.stmt), ""),), weight)

    def before(self, *lines: str, weight: float = 1.0) -> Suggestion:
        """Add lines in front of the statement, at its indentation."""
        at = self.source.lines_of(self.stmt)[0]
        return Suggestion((Splice(at, at, self._lines(lines)),), weight)

    def after(self, *lines: str, weight: float = 1.0) -> Suggestion:
        """Add lines behind the statement, at its indentation."""
        at = self.source.lines_of(self.stmt)[1]
        ended = self.source.text[:at].endswith(("\n", "\r"))
        text = self._lines(lines)
        if not ended:
            text = self.source.newline + text.removesuffix(self.source.newline)
        return Suggestion((Splice(at, at, text),), weight)

    @property
    def unit(self) -> str:
        """One more level of indentation, as this file writes it."""
        own = self.source.indent(self.stmt)
        holder = self.parents.get(self.stmt)
        outer = self.source.indent(holder) if isinstance(holder, ast.stmt) else ""
        return own.removeprefix(outer) or ("\t" if "\t" in own else "    ")

    def _lines(self, lines: tuple[str, ...]) -> str:
        indent = self.source.indent(self.stmt)
        return "".join(f"{indent}{line}{self.source.newline}" for line in lines)

    # --- surroundings --------------------------------------------------------------------------------------

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Everything around a node, nearest first."""
        at = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    @property
    def in_function(self) -> bool:
        """Whether the statement is inside a function, not the function itself."""
        return self.scope.function is not None and self.stmt is not self.scope.function

    @property
    def in_loop(self) -> bool:
        """Whether `break` and `continue` may stand at the statement."""
        for around in self.ancestors(self.stmt):
            if isinstance(around, LOOPS):
                return True
            if isinstance(around, (*FUNCTIONS, ast.ClassDef)):
                return False
        return False
