"""Small faults put into the code that tests cover: a test that notices none of them says nothing."""

from __future__ import annotations

from referee.authors.search.operators import OPERATORS, Family
from referee.authors.search.pool import Pool
from referee.authors.search.survey import Evidence, Tree, survey
from referee.authors.search.trial import Trial
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, screen, spectrum
from referee.kernel.run import Run

MOST = 24
_LOOKED_AT = 400
_CHUNK = 12
CHECK = "mutants"
# Faults as people make them; the search's other operators mend rather than break.
_FAMILIES = (Family.COMPARISON, Family.ARITHMETIC, Family.CONSTANT, Family.CONDITION, Family.OFFSET, Family.RETURN)
_NAMES = frozenset(o.name for o in OPERATORS if o.family in _FAMILIES)


class Score(Value):
    """How many of the faults the tests notice; `survived` are the others, in words."""

    killed: int
    made: int
    survived: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """In one sentence."""
        share = f" ({self.killed / self.made:.0%})" if self.made else ""
        return f"mutation score: the new tests notice {self.killed} of {self.made} faults in the code they cover{share}"


def score(run: Run, bench: Bench, protection: Protection, seed: int = 0) -> Score:
    """Let the bench's targets run against faulty versions of the code that they cover."""
    run.progress("check", {"check": CHECK, "layer": Layer.TARGET.value})
    tree = Tree(
        paths=run.paths(bench.base.tree),
        read=lambda path: run.read(bench.base.tree, path),
        allowed=lambda path: not protection.guarded(path),
    )
    traced = spectrum(run, bench)
    covered = {(p, n) for t in traced.tests if t.id in bench.targets for p, ns in t.lines.items() for n in ns}
    lines = frozenset(c for c in covered if tree.allowed(c[0]))
    if not lines:
        return Score(killed=0, made=0)
    found = survey(tree, Evidence(failing=(lines,), targets=bench.targets))
    candidates = [
        c for c in Pool(found.hot, seed).take(_LOOKED_AT) if c.operator in _NAMES and (c.path, c.line) in lines
    ]
    trials = [Trial((c,)) for c in candidates[:MOST]]
    survived: list[str] = []
    killed = 0
    for start in range(0, len(trials), _CHUNK):
        chunk = trials[start : start + _CHUNK]
        patches = [t.patch(tree.known, lambda path: run.executable(bench.base.tree, path)) for t in chunk]
        for trial, result in zip(chunk, screen(run, bench, patches), strict=True):
            noticed = result.state is CheckState.FAIL or (result.killed_by is not None)
            killed += noticed
            survived += [] if noticed else [trial.describe(tree.known)]
    return Score(killed=killed, made=len(trials), survived=tuple(survived))


def verdict_on(found: Score) -> CheckResult:
    """A pass for tests that notice at least one fault."""
    if found.killed:
        return CheckResult(check=CHECK, layer=Layer.TARGET, state=CheckState.PASS, note=found.words)
    why = "no fault in the code they cover is noticed" if found.made else "they run no code of the project"
    message = f"the new tests say nothing: {why}; assert what the code should give"
    survived = Finding(
        check=CHECK, id=CHECK, message=message, error="mutants", cause="mutants", detail=found.survived[:8]
    )
    return CheckResult(check=CHECK, layer=Layer.TARGET, state=CheckState.FAIL, findings=(survived,), note=found.words)
