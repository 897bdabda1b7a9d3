"""One step is one batch; what passes is offered, smallest first; a resumed run is answered the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from referee.authors.search import SearchAuthor
from referee.authors.search.author import BATCH, CHUNK, RIVALS
from referee.authors.search.hearing import Means
from referee.domain.brief import Brief, Offer
from referee.domain.cost import Budget
from referee.domain.errors import Exhausted
from referee.domain.finding import Finding, Frame
from referee.domain.layer import Layer
from referee.domain.patch import FileContent, Patch
from referee.domain.proposal import PatchProposal
from referee.domain.protection import Protection
from referee.domain.reason import StopReason
from referee.domain.resolve import resolve
from referee.domain.task import Task
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import Bench, HeldOut, Project, Settings, Spectrum, Trace
from referee.judge.layout import Layout
from referee.judge.pytest_config import PytestConfig
from referee.judge.ruling import Known
from referee.kernel.action import Action, Effect
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Interpreter, World
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

CODE = "def f(a, b):\n    if a < b:\n        return a\n    return b\n\n\ndef g(a, b):\n    return a - b\n"
TESTS = "from m import f, g\n\n\ndef test_f():\n    assert f(1, 1)\n\n\ndef test_g():\n    assert g(1, 2) == 3\n"
TARGETS = ("tests/test_m.py::test_f", "tests/test_m.py::test_g")
OTHER = "tests/test_m.py::test_other"
Verdicts = Callable[[str, Sequence[str]], set[str]]  # the new text and the targets -> those that pass


class Screened(Action[list[CheckResult]]):
    """The judge's screening, as data: a resumed run recalls it."""

    name: ClassVar[str] = "screened"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[Any] = list[CheckResult]
    rules: ClassVar[Verdicts] = lambda text, targets: set()
    done: ClassVar[list[Patch]] = []

    patches: tuple[Patch, ...]
    targets: tuple[str, ...]

    def perform(self, world: World) -> list[CheckResult]:
        self.done.extend(self.patches)
        return [self._one(p) for p in self.patches]

    def _one(self, patch: Patch) -> CheckResult:
        after = patch.changes[0].after
        assert after is not None
        passed = type(self).rules(after.data.decode("utf-8", "replace"), self.targets)
        failed = [t for t in self.targets if t not in passed]
        state = CheckState.FAIL if failed else CheckState.PASS
        return CheckResult(
            check="pytest",
            layer=Layer.TARGET,
            state=state,
            passed_ids=tuple(sorted(passed)),
            failed_ids=tuple(failed),
            findings=tuple(failure(t) for t in failed),
            duration_ms=100,
        )


def failure(test: str, line: int = 5) -> Finding:
    frame = Frame(path="tests/test_m.py", line=line, function="t")
    return Finding(check="pytest", id=test, error="AssertionError", message="assert", frames=(frame,))


class Stage:
    """A run over a small repository whose judge is a function of the text."""

    def __init__(self, rules: Verdicts, targets: tuple[str, ...] = TARGETS[:1], code: str = CODE) -> None:
        Screened.rules, Screened.done = rules, []
        files = {"m.py": code.encode(), "tests/test_m.py": TESTS.encode()}
        self.workspace, self.clock, self.store = FakeWorkspace(files), FakeClock(), MemoryStore()
        tree = self.workspace.snapshot("r").tree
        self.store.create("r", "{}", "now")
        nothing = CheckResult(
            check="pytest",
            layer=Layer.TARGET,
            state=CheckState.FAIL,
            failed_ids=targets,
            findings=tuple(map(failure, targets)),
        )
        project = Project(
            root="/repo",
            interpreter=Interpreter(executable="/usr/bin/python3", prefix="/usr", version="3.11"),
            config=PytestConfig(),
            layout=Layout(roots=("",), names={}, sources=("m.py",), tests=("tests/test_m.py",)),
            uses=("pytest",),
            tools={},
        )
        self.bench = Bench(
            project=project,
            base=self.workspace.base(tree, Protection().guarded),
            settings=Settings(),
            targets=targets,
            known=Known(outcomes={**dict.fromkeys(targets, "failed"), OTHER: "passed"}),
            failures=(nothing,),
        )
        self.told: list[tuple[str, dict[str, Any]]] = []

    def run(self, **budget: Any) -> Run:
        self.clock.advance(1_000)
        world = FakeEquipment(self.workspace, FakeSandbox(lambda c: ended(0)), clock=self.clock)
        lease = self.store.claim("r", "me", self.clock.now(), 30.0)
        journal = Journal(self.store, lease, self.clock)
        shared = Shared(
            run_id="r",
            world=world,
            journal=journal,
            store=self.store,
            tell=lambda event, facts: self.told.append((event, dict(facts))),
        )
        return Run(shared, Budget(**budget))

    def author(self, **choice: Any) -> SearchAuthor:
        def screening(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[CheckResult, ...]:
            return tuple(run.perform(Screened(patches=tuple(patches), targets=bench.targets)))

        def tracing(run: Run, bench: Bench) -> Spectrum:
            lines = tuple(range(1, CODE.count("\n") + 1))
            failing = [Trace(id=t, outcome="failed", lines={"m.py": lines}) for t in bench.targets]
            return Spectrum(tests=(*failing, Trace(id=OTHER, outcome="passed", lines={"m.py": (2,)})))

        return SearchAuthor(self.bench, means=Means(screening, tracing, self.examples), **choice)

    def examples(self, run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[HeldOut, ...]:
        """No examples, unless a test has some."""
        return ()

    def brief(self, **facts: Any) -> Brief:
        task = Task(text="f is wrong", targets=self.bench.targets)
        return Brief(task=task, base=self.bench.base.tree, targets=self.bench.targets, feedback="", **facts)

    def text(self, made: PatchProposal | None) -> str:
        """What the proposal makes of the module."""
        assert made is not None
        tree = self.bench.base.tree
        patch = resolve(made, lambda p: self.workspace.read(tree, p), lambda p: False)
        after = patch.changes[0].after
        assert after is not None
        return after.data.decode()


def only(*snippets: str) -> Verdicts:
    """Every target passes when all snippets are in the text."""
    return lambda text, targets: set(targets) if all(s in text for s in snippets) else set()


def test_a_batch_ends_when_a_candidate_passes_and_its_rivals_are_known() -> None:
    stage = Stage(only("if a <= b"))
    run = stage.run()
    offer = stage.author().propose(run, stage.brief())
    assert stage.text(offer.proposal) == CODE.replace("a < b", "a <= b")
    assert offer.judged == CHUNK + RIVALS
    assert len(Screened.done) == offer.judged + 1, "the one that passes is tried with the other tests as well"
    assert offer.doubt == ""
    assert offer.paid
    assert run.view.spent.steps == 1
    assert offer.proposal is not None
    assert offer.proposal.root_cause == "`<` becomes `<=` in f(), m.py line 2"
    assert f"{CHUNK + RIVALS} candidates were judged" in offer.proposal.analysis


def test_a_batch_without_success_costs_one_step_and_is_not_the_end() -> None:
    stage = Stage(only("nothing like this"))
    run, author = stage.run(), stage.author()
    first, second = author.propose(run, stage.brief()), author.propose(run, stage.brief())
    assert (first.proposal, first.judged, first.paid, first.exhausted) == (None, BATCH, True, False)
    assert second.judged == BATCH
    assert run.view.spent.steps == 2
    assert len({p.digest for p in Screened.done}) == 2 * BATCH


def test_progress_is_told_while_it_happens() -> None:
    stage = Stage(only("nothing like this"))
    stage.author().propose(stage.run(), stage.brief())
    counts = [facts["judged"] for event, facts in stage.told if event == "candidate"]
    assert counts == [12, 24, 36, 48, 60, 64]


def test_several_that_pass_are_said_and_offered_one_by_one_the_smallest_first() -> None:
    stage = Stage(lambda text, targets: set(targets) if "a < b" not in text else set())
    run, author = stage.run(), stage.author()
    first = author.propose(run, stage.brief())
    assert first.alternatives
    assert first.proposal is not None
    assert "other edits of the same line pass the same tests and do something else" in first.proposal.analysis
    assert first.doubt and first.doubt in first.proposal.analysis
    last = first.proposal
    second = author.propose(run, stage.brief(last=last))
    assert second.proposal is not None
    assert stage.text(second.proposal) != stage.text(first.proposal)
    assert second.judged == 0
    assert run.view.spent.steps == 2


def test_a_test_that_the_last_offer_broke_becomes_a_target() -> None:
    """Otherwise the next offer breaks it again, and two failures alike end the run."""

    def rules(text: str, targets: Sequence[str]) -> set[str]:
        good = {t for t in targets if t != OTHER} if "a < b" not in text else set()
        return good | ({OTHER} if "a >= b" not in text and "a > b" not in text else set())

    stage = Stage(rules)
    stage.bench = stage.bench.model_copy(update={"suite_ms": 60_000})  # too slow to try with every candidate
    run, author = stage.run(), stage.author()
    offer = author.propose(run, stage.brief())
    broken = (failure(OTHER),)
    while any(s in stage.text(offer.proposal) for s in ("a <= b", "a != b")):
        offer = author.propose(run, stage.brief(last=offer.proposal))
    for _ in range(3):
        offer = author.propose(run, stage.brief(last=offer.proposal, findings=broken))
        assert "a > b" not in stage.text(offer.proposal)
        assert "a >= b" not in stage.text(offer.proposal)


def test_what_breaks_other_tests_is_not_offered_where_the_suite_is_quick() -> None:
    def rules(text: str, targets: Sequence[str]) -> set[str]:
        changed = "a < b" not in text
        return {t for t in targets if t == OTHER or changed} - ({OTHER} if changed and "a >= b" not in text else set())

    stage = Stage(rules)
    run, author = stage.run(), stage.author()
    offer = author.propose(run, stage.brief())
    assert "a >= b" in stage.text(offer.proposal)
    assert offer.alternatives == ()


def test_two_places_are_mended_together() -> None:
    """Each edit turns one of the two targets; neither is enough."""

    def rules(text: str, targets: Sequence[str]) -> set[str]:
        found = {OTHER, TARGETS[0]} if "a <= b" in text else {OTHER}
        return found | ({TARGETS[1]} if "a + b" in text else set())

    stage = Stage(rules, TARGETS)
    run, author = stage.run(), stage.author()
    offers = [author.propose(run, stage.brief())]
    while offers[-1].proposal is None and len(offers) < 4:
        offers.append(author.propose(run, stage.brief()))
    assert stage.text(offers[-1].proposal) == CODE.replace("a < b", "a <= b").replace("a - b", "a + b")
    made = offers[-1].proposal
    assert made is not None
    assert "; and " in made.root_cause
    assert len(made.files) == 1


def test_the_end_of_the_candidates_is_said() -> None:
    stage = Stage(only("nothing like this"), code="def f(a):\n    return a\n")
    run, author = stage.run(max_steps=50), stage.author()
    offer = author.propose(run, stage.brief())
    while not offer.exhausted:
        offer = author.propose(run, stage.brief())
    assert offer.proposal is None
    assert "none passes" in offer.note


def test_nothing_to_search_is_said_at_once() -> None:
    stage = Stage(only("x"), code="def f(:\n")
    offer = stage.author().propose(stage.run(), stage.brief())
    assert offer.exhausted
    assert "valid Python" in offer.note


def test_the_number_of_batches_can_be_bounded() -> None:
    stage = Stage(only("nothing like this"))
    run, author = stage.run(), stage.author(max_batches=2)
    offers = [author.propose(run, stage.brief()) for _ in range(3)]
    assert [o.exhausted for o in offers] == [False, True, True]
    assert [o.judged for o in offers] == [BATCH, BATCH, 0]
    assert run.view.spent.steps == 2


def test_files_outside_the_allowed_patterns_are_never_touched() -> None:
    stage = Stage(only("x"))
    author = stage.author(protection=Protection(source=("src/",)))
    assert author.propose(stage.run(), stage.brief()).exhausted
    assert Screened.done == []


def test_no_step_left_ends_the_run_before_anything_is_judged() -> None:
    stage = Stage(only("nothing like this"))
    run, author = stage.run(max_steps=1), stage.author()
    author.propose(run, stage.brief())
    with pytest.raises(Exhausted) as raised:
        author.propose(run, stage.brief())
    assert raised.value.reason is StopReason.STEPS_EXHAUSTED
    assert len(Screened.done) == BATCH


def play(stage: Stage, steps: int) -> list[Offer]:
    """A run of some steps, as the loop drives it."""
    run, author = stage.run(max_steps=20), stage.author(seed=7)
    offers: list[Offer] = []
    for _ in range(steps):
        last = next((o.proposal for o in reversed(offers) if o.proposal), None)
        offers.append(author.propose(run, stage.brief(last=last)))
    return offers


def test_a_resumed_run_recalls_what_was_judged_and_goes_on_from_there() -> None:
    def rules(text: str, targets: Sequence[str]) -> set[str]:
        return set(targets) if "a - a" in text or "b - b" in text or "a % b" in text else set()

    whole = play(Stage(rules), 5)
    judged = [p.digest for p in Screened.done]
    stage = Stage(rules)
    assert play(stage, 2) == whole[:2]
    before = len(Screened.done)
    assert play(stage, 5) == whole, "the journal's results lead to the same offers"
    assert [p.digest for p in Screened.done] == judged, "and nothing was judged twice"
    assert before < len(judged)


def test_candidates_get_little_more_time_than_the_tests_need() -> None:
    seen: list[float] = []

    def screening(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[CheckResult, ...]:
        seen.append(bench.test_seconds)
        return tuple(CheckResult(check="pytest", layer=Layer.TARGET, state=CheckState.FAIL) for _ in patches)

    stage = Stage(only("x"))
    stage.bench = stage.bench.model_copy(update={"target_ms": 500, "test_seconds": 60.0})
    means = Means(screening, lambda run, bench: Spectrum(tests=()), stage.examples)
    author = SearchAuthor(stage.bench, means=means)
    author.propose(stage.run(), stage.brief())
    assert set(seen) == {2.5}


def test_edits_of_several_places_that_do_as_well_are_a_doubt() -> None:
    """The tests do not say where the fault is, so the search does not claim to know it."""

    def rules(text: str, targets: Sequence[str]) -> set[str]:
        return set(targets) if "a < b" not in text or "return b" not in text else set()

    stage = Stage(rules)
    offer = stage.author().propose(stage.run(), stage.brief())
    assert "in other places" in offer.doubt
    assert offer.proposal is not None
    assert offer.doubt in offer.proposal.analysis


def test_what_breaks_an_example_comes_last_and_what_mends_one_first() -> None:
    """All edits pass every test; only the example in the documents tells them apart."""
    stage = Stage(lambda text, targets: set(targets) if any(f"a {o} b" in text for o in ("<=", ">", ">=")) else set())

    def examples(run: Run, bench: Bench, patches: Sequence[Patch]) -> tuple[HeldOut, ...]:
        bad = [b"a <= b" in p.changes[0].after.data for p in patches if p.changes[0].after]
        assert set(bad) == {True, False}
        return tuple(HeldOut(lost=("m.py::m.f",)) if b else HeldOut(gained=("README.rst::README.rst",)) for b in bad)

    stage.examples = examples  # type: ignore[method-assign]
    run, author = stage.run(), stage.author()
    offers = [author.propose(run, stage.brief())]
    assert "a <= b" not in stage.text(offers[0].proposal)
    assert offers[0].doubt == ""
    while offers[-1].alternatives:
        offers.append(author.propose(run, stage.brief(last=offers[-1].proposal)))
    assert "a <= b" in stage.text(offers[-1].proposal)
    assert "m.py::m.f" in offers[-1].doubt


def test_a_file_in_latin_1_keeps_every_other_byte() -> None:
    """A proposal is text: the edit is cut to the part of the line that is ASCII."""
    code = "# -*- coding: latin-1 -*-\ndef f(a, b):\n    if a < b: return 'größer'  # ä\n    return b\n".encode(
        "latin-1"
    )
    stage = Stage(only("if a <= b"))
    stage.workspace.files["m.py"] = FileContent(data=code)
    tree = stage.workspace.snapshot("r").tree
    base = stage.workspace.base(tree, Protection().guarded)
    stage.bench = stage.bench.model_copy(update={"base": base})
    offer = stage.author().propose(stage.run(), stage.brief())
    assert offer.proposal is not None
    patch = resolve(offer.proposal, lambda p: stage.workspace.read(tree, p), lambda p: False)
    after = patch.changes[0].after
    assert after is not None
    assert after.data == code.replace(b"a < b", b"a <= b")
