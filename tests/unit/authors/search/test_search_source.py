"""Files as people write them: byte offsets, byte-order marks, CRLF, tabs, and what cannot be read at all."""

from __future__ import annotations

import ast

import pytest
from search_sites import every, source

from referee.authors.search.source import Source

WAYS = {
    "plain": "def f(a):\n    return a < 1\n",
    "crlf": "def f(a):\r\n    return a < 1\r\n",
    "bom": "\ufeffdef f(a):\n    return a < 1\n",
    "bom and crlf": "\ufeffdef f(a):\r\n\treturn a < 1\r\n",
    "wide characters": 'def größe(a):\n    return "naïve 名 😀", a < 1  # é\n',
    "form feed": "x = 1\n\x0c\ndef f(a):\n    return a < 1\n",
    "no break at the end": "def f(a):\n    return a < 1",
    "other breaks in a string": 'def f(a):\n    return "\u2028\x0b\x85", a < 1\n',
    "continuation": "def f(a):\n    return a \\\n        < 1\n",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_an_edit_lands_on_its_token_and_nothing_else_moves(text: str) -> None:
    where = source(text)
    made = {c.apply(where.text) for c in every(where) if c.operator == "comparison"}
    assert text.replace("<", "<=") in made
    assert all(len(m) - len(text) in (0, 1) for m in made)


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_segments_are_what_the_parser_saw(text: str) -> None:
    where = source(text)
    for node in ast.walk(where.tree):
        if isinstance(node, ast.Constant | ast.Compare):
            assert ast.dump(ast.parse(f"({where.segment(node)})", mode="eval").body) == ast.dump(node)


@pytest.mark.parametrize(
    "data",
    [
        b"def f(:\n",
        b"x = '\xff'\n",
        b"x = 1\0\n",
        b"# coding: no-such-codec\n",
        b"(" * 2_000,
    ],
    ids=["syntax error", "not utf-8", "null byte", "unknown encoding", "too deep"],
)
def test_what_is_not_python_is_passed_over(data: bytes) -> None:
    assert Source.load("m.py", data) is None


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "utf-8", "gbk"])
def test_a_file_is_read_and_written_in_the_encoding_it_declares(codec: str) -> None:
    """PEP 263: such a file is valid Python."""
    data = f"# -*- coding: {codec} -*-\nwho = 'p\u00e8re' + name  # \u00e8\n".encode(codec)
    source = Source.load("m.py", data)
    assert source is not None
    assert source.encoded(source.text) == data
    (assign,) = (n for n in source.tree.body if isinstance(n, ast.Assign))
    assert source.segment(assign.value) == "'p\u00e8re' + name"
    assert source.encoded("\u20ac" if codec == "latin-1" else "x").isascii()


def test_a_line_added_at_the_end_of_a_file_without_a_break_begins_a_new_one() -> None:
    where = source("def f(a):\r\n    b = a")
    made = {c.apply(where.text) for c in every(where) if c.operator == "missing_return"}
    assert "def f(a):\r\n    b = a\r\n    return b" in made


def test_statements_that_share_a_line_are_not_moved() -> None:
    where = source("def f(a):\n    if a: return 1\n    b = a; a = 2\n    return b\n")
    moved = {c.line for c in every(where) if c.operator in ("removed", "statement_order", "out_of_block")}
    assert moved == {2, 4}  # the whole `if`, and the last line
