"""Lines of code with marks for their syntax, for whatever language a path's ending names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from referee.render.elements import Html, el, join

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST = 2_000  # a line longer than this is data, not code to read
_MOST = 200_000  # characters of one side that are worth marking


def marked(lines: Sequence[str], path: str) -> list[Html]:
    """Each line as markup. A side is read as one text, so that what spans lines is seen; without colour if unknown."""
    lexer = _lexer(path)
    if lexer is None or sum(map(len, lines)) > _MOST or any(len(line) > _LONGEST for line in lines):
        return [join(line) for line in lines]
    from pygments import lex

    rows: list[list[Html]] = [[]]
    for kind, text in lex("\n".join(lines), lexer):
        for n, part in enumerate(text.split("\n")):
            if n:
                rows.append([])
            if part:
                rows[-1].append(_token(_sort(kind), part))
    found = [join(row) for row in rows[: len(lines)]]
    return found + [Html("")] * (len(lines) - len(found))


def _token(sort: str, text: str) -> Html:
    return el("span", text, class_=sort) if sort else join(text)


def _lexer(path: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(path.rpartition("/")[2], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _sort(kind: object) -> str:
    return next((name for name in _names(kind)), "")


def _names(kind: object) -> Iterator[str]:
    from pygments.token import Comment, Keyword, Name, Number, String, is_token_subtype

    sorts = (
        (Comment, "c-comment"),
        (Keyword, "c-keyword"),
        (String, "c-string"),
        (Number, "c-number"),
        (Name.Function, "c-name"),
        (Name.Class, "c-name"),
        (Name.Decorator, "c-name"),
        (Name.Builtin, "c-builtin"),
    )
    for wanted, name in sorts:
        if is_token_subtype(kind, wanted):
            yield name
