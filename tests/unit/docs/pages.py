"""The documents of the project, and the blocks of code in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCUMENTS = tuple(sorted(p.relative_to(ROOT).as_posix() for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))))
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([\w-]*)[^\n]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^\n|\A)((?:(?: {4}[^\n]*)?\n)*? {4}[^\n]*\n(?:(?: {4}[^\n]*)?\n)*)", re.MULTILINE)
_LISTED = re.compile(r"^\s*(?:[*+-]|\d+[.)])\s")


@dataclass(frozen=True)
class Block:
    """One block of code: where it begins, its language if it says one, its text without indentation."""

    document: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks() -> Iterator[Block]:
    """Every fenced and every indented block of every document."""
    for document in DOCUMENTS:
        text = text_of(document)
        for found in _FENCE.finditer(text):
            yield _block(document, text, found.start(), found[3], found[4])
        bare = _FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
        for found in _INDENTED.finditer(bare):
            before = bare[: found.start(1)].rstrip().rpartition("\n")[2]
            if not _LISTED.match(before) and not before.startswith("  "):
                yield _block(document, bare, found.start(1), "", found[1])


def without_blocks(document: str) -> str:
    """The prose of a document."""
    return _FENCE.sub("", text_of(document))


def _block(document: str, text: str, at: int, language: str, code: str) -> Block:
    return Block(document, text.count("\n", 0, at) + 1, language, textwrap.dedent(code).strip("\n") + "\n")
