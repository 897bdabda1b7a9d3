"""The judge as a tool sees it: its word on the files as they are, compressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from referee.domain.observation import Observation, failed
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, compress, named_tests, try_gate, try_loop
from referee.kernel.run import Run

Examine = Callable[[Run, str, tuple[str, ...]], Observation]


def examiner(bench: Callable[[], Bench | None]) -> Examine:
    """What `check` asks. `bench` is the judge as it was made ready before the call, None if nothing can judge."""

    def examine(run: Run, tree: str, targets: tuple[str, ...]) -> Observation:
        judge = bench()
        if judge is None:
            return failed("there are no checks here; show with bash that it works, and say how in your answer")
        patch = run.between(judge.base.tree, tree)
        if targets:
            if "pytest" not in judge.project.uses:
                return failed("only tests of pytest can be named; call check without targets")
            return _told((named_tests(run, judge, patch, targets),))
        if not patch.changes and judge.named:
            return failed("nothing is changed yet, so what failed fails still")
        results = try_loop(run, judge, patch, False)
        if all(r.clear for r in results):
            results = (*results, *try_gate(run, judge, patch, False))
        return _told(results)

    return examine


def _told(results: Sequence[CheckResult]) -> Observation:
    passed = all(r.clear for r in results)
    rows = [f"{r.check}: {r.state.value}" + (f" ({r.note})" if r.note else "") for r in results]
    meta = f"[{'passed' if passed else 'failed'}; {'; '.join(rows)}]"
    if passed:
        return Observation(text=meta)
    blocked = any(r.state is CheckState.NOT_RUN for r in results)
    hint = "\nA check that could not run blocks like one that failed." if blocked else ""
    return Observation(text=f"{compress(results)}{hint}\n{meta}", outcome="failed")
