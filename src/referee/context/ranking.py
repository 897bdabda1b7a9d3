"""Ranking files: by the words they share with a question, and by several rankings at once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

K = 60  # of reciprocal rank fusion: one first place counts less than two good ones
_K1, _B = 1.2, 0.75  # of BM25: how soon a repeated word stops counting, and how much a long file is held against it
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COMMON = frozenset(
    ("class", "def", "return", "import", "from", "self", "assert", "none", "true", "false", "and", "not", "for", "if",
     "else", "elif", "with", "while", "try", "except", "raise", "in", "is", "or", "the", "an", "of", "to", "str", "int",
     "test", "tests", "expected", "actual", "line", "file", "error", "py", "src")
)  # fmt: skip


def fused(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """The sum of 1 / (60 + place) over all rankings that have a path, best first; equals are sorted by path."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, path in enumerate(ranking, start=1):
            scores[path] = scores.get(path, 0.0) + 1 / (K + place)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def words(text: str) -> Counter[str]:
    """The names in a text, whole and in their parts, in lower case."""
    found: Counter[str] = Counter()
    for name in _WORD.findall(text):
        whole = name.lower()
        parts = [p.lower() for p in _PART.findall(name)]
        found.update(w for w in ([whole, *parts] if len(parts) > 1 else [whole]) if w not in _COMMON and len(w) > 1)
    return found


def bm25(question: Mapping[str, int], files: Mapping[str, Counter[str]]) -> dict[str, float]:
    """How well each file answers the question, best first; files that share no word with it are left out."""
    if not files:
        return {}
    sizes = {path: sum(found.values()) for path, found in files.items()}
    mean = sum(sizes.values()) / len(sizes) or 1.0
    scores: dict[str, float] = {}
    for word in question:
        having = [path for path, found in files.items() if word in found]
        rarity = math.log(1 + (len(files) - len(having) + 0.5) / (len(having) + 0.5))
        for path in having:
            often = files[path][word]
            share = often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * sizes[path] / mean))
            scores[path] = scores.get(path, 0.0) + rarity * share
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
