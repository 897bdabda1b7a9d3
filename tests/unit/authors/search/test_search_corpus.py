"""What the search finds, and how early, on small functions with one mistake each."""

from __future__ import annotations

import pytest
import search_corpus
import search_evaluator

from referee.authors.search.pool import Pool

MOST = 200
_places: dict[str, int | None] = {}


def place(case: search_corpus.Case) -> int | None:
    """The rank of the first candidate that passes every check."""
    if case.name not in _places:
        tree, seen = search_evaluator.look(case)
        pool = Pool(seen.hot).take(MOST)
        passing = (n for n, c in enumerate(pool, start=1) if search_evaluator.passes(case, tree, c))
        _places[case.name] = next(passing, None)
    return _places[case.name]


@pytest.mark.parametrize("case", search_corpus.CASES, ids=lambda c: c.name)
def test_a_case_has_a_mistake_that_the_search_mends(case: search_corpus.Case) -> None:
    assert not all(search_evaluator.check(case.source, c)[0] for c in case.checks)
    assert place(case) is not None, f"none of {MOST} candidates passes"


def test_most_repairs_come_early() -> None:
    found = [p for p in map(place, search_corpus.CASES) if p is not None]
    within = {n: sum(p <= n for p in found) for n in (12, 50, 100)}
    assert within[12] >= 9, within
    assert within[50] >= 19, within
    assert within[100] >= 22, within
