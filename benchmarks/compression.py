"""What a model is told of a failure, beside the raw output and beside cutting it to head and tail.

The cases are those of the tests: modules that fail under pytest, and what other tools write. A fact is a place, an
error or a value that a repair needs; each may be worded in several ways, and counts if one of them is there.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit" / "judge"))
from failures import CASES, PRODUCT
from judge_lab import Lab, opened
from outputs import REPORTS
from outputs_unknown import UNKNOWN
from test_judge_compress import Runner, lost, told_of

from referee.judge import compress

Told = list[tuple[str, tuple[str, ...]]]


def main() -> None:
    """Print one table: characters, facts kept, and cases with all of their facts."""
    raw, structured = by_pytest()
    for out, err, code, facts in (*(case[1:] for case in REPORTS.values()), *UNKNOWN.values()):
        raw.append((f"{out}{err}\nexit code {code}", facts))
    structured += [(compress([result]), facts) for result, facts in map(told_of, (*REPORTS, *UNKNOWN))]
    mean = round(statistics.mean(len(text) for text, _ in structured))
    rows = {
        "raw": raw,
        "head + tail, 4,000": [(cut(text, 4_000), facts) for text, facts in raw],
        f"head + tail, {mean:,}": [(cut(text, mean), facts) for text, facts in raw],
        "referee": structured,
    }
    facts = sum(len(f) for _, f in raw)
    print(f"{len(raw)} failing outputs, {facts} facts: {len(CASES)} of pytest, {len(REPORTS)} of other readers,")
    print(f"{len(UNKNOWN)} of tools that no reader knows\n")
    print(f"{'':<20} {'characters':>12} {'mean':>8} {'median':>7} {'max':>9} {'facts':>6} {'whole cases':>12}")
    for name, told in rows.items():
        sizes = [len(text) for text, _ in told]
        missing = [len(lost(facts, text)) for text, facts in told]
        print(
            f"{name:<20} {sum(sizes):>12,} {statistics.mean(sizes):>8,.0f} {statistics.median(sizes):>7,.0f} "
            f"{max(sizes):>9,} {facts - sum(missing):>6} {missing.count(0):>12}"
        )
    for text, facts in structured:
        for fact in lost(facts, text):
            print(f"lost: {fact!r} of\n{text}", file=sys.stderr)


def cut(text: str, room: int) -> str:
    """The first and the last half of the room."""
    return text if len(text) <= room else text[: room // 2] + "\n…\n" + text[-room // 2 :]


def by_pytest() -> tuple[Told, Told]:
    """What pytest itself writes about each failing module (`-q --tb=short`), and what the judge tells of it."""
    sandbox = opened()
    with tempfile.TemporaryDirectory() as folder:
        files = {**PRODUCT, "tests/test_case.py": "def test(): pass\n"}
        lab = Lab(Path(folder) / "repo", files, sandbox, timeout=10_000)
        try:
            runner = Runner(lab)
            told = [(compress([runner.result(text)]), facts) for text, facts in CASES.values()]
        finally:
            lab.close()
            sandbox.close()
    return [(runner.raw[text], facts) for text, facts in CASES.values()], told


if __name__ == "__main__":
    main()
