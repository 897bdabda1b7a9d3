"""Examples in docstrings and documents that no test runs: they tell patches apart that the tests do not."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.judge import plan, stream
from referee.judge.bench import Bench
from referee.judge.plan import TestRun
from referee.kernel.run import Run

_MOST_FILES, _MOST_BYTES = 12, 400_000
_SECONDS = 20.0
_PROMPT = b">>> "


class HeldOut(Value):
    """Ids of examples: `kept` held before the patch and do now, `lost` held before, `gained` do only now."""

    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()


def held_out(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[HeldOut, ...]:
    """What the examples say to each patch, compared with the unpatched tree; nothing at all if there are none."""
    files = _files(run, bench, patches) if patches and "pytest" in bench.project.uses else ()
    if not files:
        return ()
    run.progress("check", {"what": "the examples in the code and its documents"})
    what = TestRun(ids=files, examples=True, test_seconds=bench.test_seconds, full=False)
    jobs = tuple(plan.job(bench.project, p, what, _SECONDS) for p in (Patch(), *patches))
    done = plan.warm(run, bench.project, bench.base, jobs, bench.settings.parallel)
    before, *after = (_outcomes(stream.read(e.channel, e.key).outcomes, bench) for e in done)
    return tuple(_compared(before, a) for a in after)


def _compared(before: Mapping[str, str], after: Mapping[str, str]) -> HeldOut:
    held = [i for i, o in before.items() if o == "passed"]
    return HeldOut(
        kept=tuple(i for i in held if after.get(i) == "passed"),
        lost=tuple(i for i in held if after.get(i) != "passed"),
        gained=tuple(i for i, o in after.items() if o == "passed" and before.get(i) == "failed"),
    )


def _outcomes(found: Mapping[str, str], bench: Bench) -> dict[str, str]:
    """Without what the suite knows already."""
    return {i: o for i, o in found.items() if i not in bench.known.outcomes}


def _files(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[str, ...]:
    """The touched modules that hold examples, then documents with examples that name one of these modules."""
    tree = bench.base.tree
    touched = sorted({p for patch in patches for p in patch.touched if p.endswith(".py")})
    sources = {p: run.read(tree, p) or b"" for p in touched}
    names = {n for p, text in sources.items() for n in _names(p, text)}
    found = [p for p, text in sources.items() if _PROMPT in text]
    for path in run.paths(tree):
        if len(found) >= _MOST_FILES:
            break
        if path.endswith(plan.DOCUMENTS):
            text = run.read(tree, path) or b""
            if _PROMPT in text and len(text) <= _MOST_BYTES and any(n.encode() in text for n in names):
                found.append(path)
    return tuple(found)


def _names(path: str, text: bytes) -> Iterator[str]:
    """How documents would speak of a module: its own name and those of what it defines."""
    folder, name = posixpath.split(path.removesuffix(".py"))
    yield posixpath.basename(folder) if name == "__init__" and folder else name
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
