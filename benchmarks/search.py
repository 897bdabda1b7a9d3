"""How early the search finds a repair for each case of its corpus: `python benchmarks/search.py [most]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/unit/authors/search"))

import search_corpus as corpus
import search_evaluator as evaluator

from referee.authors.search.pool import Pool

TIERS = (1, 5, 12, 24, 50, 100, 200, 300)


def rank(case: corpus.Case, most: int) -> tuple[int | None, str, bool]:
    """The place of the first candidate that passes, what it is, and whether it reads as the right repair."""
    tree, seen = evaluator.look(case)
    source = tree.source(evaluator.MODULE)
    assert source is not None
    for place, candidate in enumerate(Pool(seen.hot).take(most), start=1):
        if evaluator.passes(case, tree, candidate):
            right = case.fix in candidate.apply(source.text)
            return place, f"{candidate.operator}: {candidate.describe(source)}", right
    return None, "", False


def main() -> None:
    """Print one line per case and the distribution."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    started = time.perf_counter()
    found = []
    for case in corpus.CASES:
        place, how, right = rank(case, most)
        found.append(place)
        print(f"{case.name:24} {place or '-':>4} {'' if right or not place else 'OTHER '}{how}")
    reached = {t: sum(p is not None and p <= t for p in found) for t in TIERS if t <= most}
    seconds = time.perf_counter() - started
    print(f"{len(found)} cases; found within: {reached}; {seconds:.1f} s")


if __name__ == "__main__":
    main()
