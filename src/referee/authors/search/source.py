"""One source file as text with exact offsets, so that an edit touches nothing but its own span."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from functools import cached_property
from types import CodeType

_BREAK = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"
_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

Located = ast.stmt | ast.expr | ast.excepthandler | ast.keyword | ast.arg


def parse(text: str) -> ast.Module | None:
    """The tree of `text`, or None if it is not Python. Warnings about the code are its owner's, not ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except _UNPARSABLE:
        return None


def compiled(text: str) -> CodeType | None:
    """The code object of `text`, or None if it does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(text, "<candidate>", "exec", dont_inherit=True, optimize=0)
    except _UNPARSABLE:
        return None


class Source:
    """A parsed file. Offsets are in characters of `text`, which is the whole file with its byte-order mark."""

    def __init__(self, path: str, text: str, tree: ast.Module, encoding: str = "utf-8") -> None:
        self.path = path
        self.encoding = encoding
        self.text = text
        self.tree = tree
        first = len(_BOM) if text.startswith(_BOM) else 0
        self._starts = [first, *(m.end() for m in _BREAK.finditer(text))]

    @classmethod
    def load(cls, path: str, data: bytes) -> Source | None:
        """The source in `data`, in UTF-8 or in the encoding it declares; None if it is not valid Python."""
        try:
            declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            encoding = declared.removesuffix("-sig")
            text = data.decode(encoding)
        except (SyntaxError, UnicodeDecodeError):
            return None
        tree = parse(text.removeprefix(_BOM))
        made = None if tree is None else cls(path, text, tree, encoding)
        return made if made is not None and made.encoded(text) == data else None

    def encoded(self, text: str) -> bytes:
        """Text as the file keeps it; what its encoding has no word for is written as an escape."""
        return text.encode(self.encoding, "backslashreplace")

    @cached_property
    def narrow(self) -> bool:
        """Whether the file is not UTF-8: a proposal, which is text, can then change only its ASCII."""
        return self.encoding not in ("utf-8", "ascii") and not self.text.isascii()

    @cached_property
    def newline(self) -> str:
        """The file's first line break, for lines that are added."""
        found = _BREAK.search(self.text)
        return found.group() if found else "\n"

    def offset(self, line: int, column: int) -> int:
        """The character offset of a position as `ast` gives it: 1-based line, 0-based UTF-8 byte column."""
        start = self._starts[line - 1]
        ahead = self.text[start : start + column]
        if ahead.isascii():
            return start + column
        return start + len(ahead.encode()[:column].decode("utf-8", "ignore"))

    @property
    def lines(self) -> int:
        """How many lines there are; a break at the very end begins one more, empty line."""
        return len(self._starts)

    def line_at(self, offset: int) -> int:
        """The 1-based line that holds `offset`."""
        return max(1, bisect_right(self._starts, offset))

    def line_start(self, line: int) -> int:
        """Where a line begins."""
        return self._starts[line - 1]

    def line_end(self, line: int) -> int:
        """Where a line ends, its break included."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def span(self, node: Located) -> tuple[int, int]:
        """Start and end of a node. Expressions in parentheses do not include these."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def segment(self, node: Located) -> str:
        """The node's own text."""
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement's first line."""
        start = self.line_start(node.lineno)
        line = self.text[start : self.line_end(node.lineno)]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def alone(self, node: ast.stmt) -> bool:
        """Whether the statement shares its lines with no other code (a comment after it is fine)."""
        start, end = self.span(node)
        before = self.text[self.line_start(node.lineno) : start]
        after = self.text[end : self.line_end(node.end_lineno or node.lineno)].strip()
        return not before.strip() and (not after or after.startswith("#"))

    def lines_of(self, node: ast.stmt) -> tuple[int, int]:
        """Start and end of the whole lines a statement covers, decorators included."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        return self.line_start(first), self.line_end(node.end_lineno or node.lineno)
