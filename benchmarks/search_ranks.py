"""How early the search finds a repair of each QuixBugs program: `python benchmarks/search_ranks.py DIR [OUT]`.

DIR is a checkout of QuixBugs. Programs and their own tests run in this process and lines are counted, so that the
ranks do not depend on the machine's load; what the whole takes in the sandbox is for `search_real.py` to say.
OUT receives the table as Markdown.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/unit/authors/search"))

import pytest  # noqa: F401 - tests of programs import it, and are timed
import search_corpus as corpus
import search_evaluator as evaluator

from referee.authors.search.pool import Pool

MOST, LONG, SECONDS = 300, 100_000, 2.0
BARS = (1, 5, 12, 50, 100, 200, 300)


def cases(home: Path) -> list[corpus.Case]:
    """Every program with its own tests as checks; the fix is not looked at here."""
    found = []
    for test in sorted((home / "python_testcases").glob("test_*.py")):
        name = test.stem.removeprefix("test_")
        source = (home / f"python_programs/{name}.py").read_text()
        data = home / f"json_testcases/{name}.json"
        checks = _from_data(name, data, test) if data.exists() else _from_functions(name, test, home)
        found.append(corpus.Case(name, source, checks, ""))
    return found


def _from_data(name: str, data: Path, test: Path) -> tuple[str, ...]:
    call = f"list({name}(*{{}}))" if f"list({name}(" in test.read_text() else f"{name}(*{{}})"
    checks = []
    for line in filter(str.strip, data.read_text().splitlines()):
        given, wanted = json.loads(line)
        said = call.format(repr(given if isinstance(given, list) else [given]))
        near = f"abs({said} - {wanted!r}) <= 0.01" if isinstance(wanted, float) else f"plain({said}) == {wanted!r}"
        checks.append(near)
    return tuple(checks)


def _from_functions(name: str, test: Path, home: Path) -> tuple[str, ...]:
    """Test functions, each run in a fresh copy of its module with the program put in."""
    sys.path.insert(0, str(home / "python_testcases"))
    tree = ast.parse(test.read_text())
    tree.body = [n for n in tree.body if not isinstance(n, ast.If)]  # the choice between faulty and right program
    code = compile(tree, test.name, "exec")

    def run(program: Any, function: str) -> bool:
        space: dict[str, Any] = {name: program}
        signal.setitimer(signal.ITIMER_REAL, SECONDS)  # the tests' own loops are not counted
        try:
            exec(code, space)
            space[function]()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return True

    setattr(builtins, f"run_{name}", run)
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
    return tuple(f"run_{name}({name}, {f!r})" for f in functions)


def plain(value: Any) -> Any:
    """The value as JSON would keep it."""
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


class _Long(Exception):
    """A check that the tests themselves skip, because it takes too long."""


def needed(check: str, right: str) -> int:
    """How many lines the right program runs for a check; 0 if that is too many to ask for."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += frame.f_code.co_filename == evaluator.MODULE
        if count > LONG:
            raise _Long
        return trace

    space: dict[str, Any] = {}
    exec(compile(right, evaluator.MODULE, "exec"), space)
    sys.settrace(trace)
    try:
        eval(check, space)
    except _Long:
        return 0
    finally:
        sys.settrace(None)
    return count


def rank(case: corpus.Case) -> tuple[int | None, str]:
    """The place of the first candidate that passes, and what it is."""
    tree, seen = evaluator.look(case)
    source = tree.source(evaluator.MODULE)
    assert source is not None
    for place, candidate in enumerate(Pool(seen.hot).take(MOST), start=1):
        if evaluator.passes(case, tree, candidate):
            return place, candidate.describe(source)
    return None, ""


def _ring(number: int, frame: Any) -> None:
    raise TimeoutError("a test without end")


def prepare() -> None:
    """Let checks find what they name, and bound what candidates take."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # candidates that build endless lists
    builtins.plain = plain  # type: ignore[attr-defined]


def main() -> None:
    """Print and write one row per program."""
    signal.signal(signal.SIGALRM, _ring)
    prepare()
    lines, places = ["| program | rank | first that passes |", "|---|---|---|"], []
    for case in cases(Path(sys.argv[1])):
        right = (Path(sys.argv[1]) / f"correct_python_programs/{case.name}.py").read_text()
        asked = {check: n for check in case.checks if (n := needed(check, right))}
        evaluator._MOST_LINES = 2_000 + 2 * max(asked.values())
        case = dataclasses.replace(case, checks=tuple(asked))
        place, how = rank(case)
        places.append(place)
        cell = how.replace("|", "\\|")
        lines.append(f"| {case.name} | {place or '-'} | {cell} |")
        print(lines[-1], flush=True)
    reached = ", ".join(f"{sum(p is not None and p <= b for p in places)} within {b}" for b in BARS)
    lines += ["", f"Of {len(places)} programs: {reached} candidates."]
    print(lines[-1])
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text("# Search: ranks on QuixBugs\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
