"""How often the search doubts what it offers: `python benchmarks/search_doubts.py [QUIXBUGS]`.

Over its corpus, and the QuixBugs programs if a checkout is given: candidates are tried in this process up to the first
that passes and a dozen more, the best is offered, and a repair counts as right if it means the same as the known one.
Prints each doubt, and how many right and other repairs are doubted with and without a look at what the rivals mean.
"""

from __future__ import annotations

import ast
import dataclasses
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/unit/authors/search"))

import search_corpus as corpus
import search_evaluator as evaluator
import search_ranks as ranks

from referee.authors.search.author import CHUNK, RIVALS
from referee.authors.search.candidate import Candidate
from referee.authors.search.choice import Differ, doubt, ordered
from referee.authors.search.pool import Pool
from referee.authors.search.trial import Trial
from referee.authors.search.unlike import between, unlike

MOST, COMPARED, SECONDS = 300, 12, 1.0


def programs(home: Path) -> Iterator[corpus.Case]:
    """QuixBugs with its right programs as the fix, and only checks that end soon."""
    for case in ranks.cases(home):
        right = (home / f"correct_python_programs/{case.name}.py").read_text()
        asked = {check: n for check in case.checks if (n := ranks.needed(check, right))}
        evaluator._MOST_LINES = 2_000 + 2 * max(asked.values())
        yield dataclasses.replace(case, checks=tuple(asked), fix=right)


def passing(case: corpus.Case) -> tuple[list[Trial], Any, str]:
    """What passes among the candidates up to the first and a dozen more; the tree; how thin the tests are."""
    tree, seen = evaluator.look(case)
    pool, found, count, beyond = Pool(seen.hot), list[Trial](), 0, 0
    while count < MOST and beyond < RIVALS and (chunk := pool.take(CHUNK)):
        beyond += CHUNK if found else 0
        count += CHUNK
        found += [Trial((c,)) for c in chunk if passes(case, tree, c)]
    return sorted(found, key=lambda t: t.preference)[:COMPARED], tree, seen.thin


def passes(case: corpus.Case, tree: Any, candidate: Candidate) -> bool:
    """Bounded in processor time as well as in lines: one line can make a number that grows without end."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, SECONDS)
    try:
        return evaluator.passes(case, tree, candidate)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def is_right(case: corpus.Case, text: str) -> bool:
    """Whether the repaired text means what the known repair does."""
    return unlike(_functions(text), _functions(case.fix)) is None if "\n" in case.fix else case.fix in text


def _functions(text: str) -> str:
    """Without what only describes or calls them."""
    tree = ast.parse(text)
    tree.body = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    return ast.unparse(tree)


def differ(tree: Any) -> Differ:
    """What the search author asks of rivals, on one tree."""
    return lambda a, b: between(a.contents(tree.known), b.contents(tree.known))


def main() -> None:
    """Print doubted repairs and the counts."""
    for number in (signal.SIGVTALRM, signal.SIGALRM):
        signal.signal(number, ranks._ring)
    ranks.prepare()
    counted: Counter[str] = Counter()
    cases = [*corpus.CASES] if len(sys.argv) < 2 else programs(Path(sys.argv[1]))
    for case in cases:
        trials, tree, thin = passing(case)
        if not trials:
            continue
        best, *others = ordered(trials, ())
        kind = "right" if is_right(case, best.trial.contents(tree.known)[evaluator.MODULE]) else "other"
        blind = doubt(best, others, thin, lambda a, b: None)
        said = doubt(best, others, thin, differ(tree))
        counted.update([kind, f"{kind}, doubted"] if said else [kind])
        counted.update([f"{kind}, doubted by place alone"] if blind else [])
        if said:
            print(f"{case.name:28} {kind} {best.trial.describe(tree.known)}: {said}", flush=True)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counted.items())))


if __name__ == "__main__":
    main()
