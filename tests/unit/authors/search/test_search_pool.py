"""The order of candidates: lazily made, without repetitions, spread over lines and operators."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from search_sites import hot, source

from referee.authors.search.generate import Heat
from referee.authors.search.pool import Pool

TEXT = "def f(a, b):\n    c = a + b\n    if c < 3:\n        return a\n    return b\n"


def test_hotter_lines_come_first_and_cold_ones_never() -> None:
    taken = Pool(hot(source(TEXT), lines={3: 1.0, 5: 0.2})).take(1_000)
    assert taken[0].line == 3
    assert {c.line for c in taken} <= {3, 5, 1}
    firsts = {line: next(i for i, c in enumerate(taken) if c.line == line) for line in (3, 5)}
    assert firsts[3] < firsts[5]


def test_a_batch_is_not_spent_on_one_line_or_operator() -> None:
    text = "def f(a, b, c, d, e):\n    x = g(a, b, c, d, e)\n    return x < a\n"
    taken = Pool(hot(source(text), lines={2: 1.0, 3: 0.7})).take(40)
    assert Counter(c.line for c in taken).most_common(1)[0][1] < 36
    assert Counter(c.operator for c in taken).most_common(1)[0][1] < 32


def test_candidates_mean_something_new_each_time() -> None:
    where = source("def f(a):\n    return a < 1\n")
    [h] = hot(where)
    meanings = [h.region.meaning(c.apply(where.text)) for c in Pool([h]).take(500)]
    assert None not in meanings
    assert len(set(meanings)) == len(meanings)
    assert h.region.meaning(where.text) not in meanings


def test_1_and_1_0_and_true_are_not_the_same_program() -> None:
    [h] = hot(source("x = 1\n"))
    assert len({h.region.meaning(t) for t in ("x = 1\n", "x = 1.0\n", "x = True\n", "x = -1\n")}) == 4
    assert h.region.meaning("x  =  1 # c\n") == h.region.meaning("x = 1\n")


def test_the_seed_decides_between_equals_only() -> None:
    def order(seed: int) -> list[tuple[str, int]]:
        return [(c.operator, c.line) for c in Pool(hot(source(TEXT)), seed).take(60)]

    assert order(1) == order(1)
    scores = [[c.score for c in Pool(hot(source(TEXT)), seed).take(400)] for seed in (1, 2)]
    assert sorted(scores[0]) == sorted(scores[1])


def test_a_region_is_read_only_when_it_could_supply_the_next_candidate() -> None:
    """A module of 5 000 lines must not cost seconds before the first candidate."""
    body = "\n".join(f"    a = g(a, b) + {n} if a < {n} else b" for n in range(10))
    text = "\n\n".join(f"def f{n}(a, b):\n{body}\n    return a" for n in range(400)) + "\n"
    assert text.count("\n") > 5_000
    started = time.process_time()
    regions = [
        replace(h, heat=Heat(lines={}, uniform=1.0, factor=1.0 / n)) for n, h in enumerate(hot(source(text)), start=1)
    ]
    pool = Pool(regions)
    assert {c.function for c in pool.take(12)} == {"f0"}
    assert pool.generated < 40_000
    assert time.process_time() - started < 4.0


def test_the_pool_has_an_upper_bound() -> None:
    many = "\n\n".join(f"def f{n}(a, b, c):\n    return g(a, b, c) + a - b" for n in range(60)) + "\n"
    pool = Pool(hot(source(many)), cap=500)
    pool.take(50_000)
    assert 500 <= pool.generated < 4_000
