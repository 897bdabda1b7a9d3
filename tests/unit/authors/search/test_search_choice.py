"""Which of several edits that pass is offered, and what makes the search doubt it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from referee.authors.search.candidate import Candidate, Splice
from referee.authors.search.choice import Survivor, doubt, ordered
from referee.authors.search.trial import SUSPECT, Trial
from referee.authors.search.unlike import Unlike
from referee.judge import HeldOut

THIN = "very few tests say what the code should do"


def edit(line: int = 1, operator: str = "comparison", score: float = 1.0, size: int = 1) -> Candidate:
    splice = Splice(line * 100, line * 100, "x" * size)
    return Candidate(path="m.py", function="f", line=line, operator=operator, splices=(splice,), score=score)


def survivor(*parts: Candidate, **examples: tuple[str, ...]) -> Survivor:
    return Survivor(Trial(parts or (edit(),)), HeldOut(**examples))


def doubted(best: Survivor, others: Sequence[Survivor], thin: str, differ: Unlike | None = None) -> str:
    return doubt(best, others, thin, lambda one, other: differ)


def test_a_lone_edit_is_not_doubted_even_if_the_tests_are_few() -> None:
    assert doubted(survivor(), (), THIN) == ""


def test_another_wording_of_the_same_line_is_no_rival() -> None:
    assert doubted(survivor(), [survivor(edit(1, "offset"))], "") == ""


def test_an_edit_of_the_same_line_that_means_something_else_is_one() -> None:
    other = survivor(edit(1, "offset"))
    assert "no test asks" not in doubted(survivor(), [other], "", Unlike())
    said = doubted(survivor(), [other], "", Unlike("age is 1 and most is 2"))
    assert "another edit of the same line" in said and "where age is 1 and most is 2, which no test asks" in said
    assert doubted(survivor(), [survivor(edit(1, score=0.4))], "", Unlike()) == ""


def test_an_edit_of_another_line_is_one() -> None:
    assert "another edit in another place passes" in doubted(survivor(), [survivor(edit(2))], "")


def test_what_is_much_less_likely_or_larger_or_takes_behaviour_away_is_no_rival() -> None:
    others = [survivor(edit(2, score=0.4)), survivor(edit(2), edit(3)), survivor(edit(2, "removed"))]
    assert doubted(survivor(), others, "") == ""


def test_examples_tell_rivals_apart() -> None:
    assert doubted(survivor(), [survivor(edit(2), lost=("m.py::m.f",))], "") == ""
    assert doubted(survivor(gained=("m.py::m.f",)), [survivor(edit(2))], "") == ""
    assert "m.py::m.f" in doubted(survivor(lost=("m.py::m.f",)), (), "")


def test_taking_behaviour_away_is_doubted_where_the_tests_would_hardly_notice() -> None:
    gone = survivor(edit(1, "removed"))
    assert doubted(gone, (), "") == ""
    assert THIN in doubted(gone, (), THIN)
    assert "other edits pass" in doubted(gone, [survivor(edit(1, "offset"))], "")


def test_two_places_at_once_need_more_than_a_few_tests() -> None:
    assert doubted(survivor(edit(1), edit(2)), (), "") == ""
    assert THIN in doubted(survivor(edit(1), edit(2)), (), THIN)


EDITS = st.builds(
    edit, st.integers(1, 3), st.sampled_from(["comparison", *sorted(SUSPECT)]), st.floats(0.1, 1), st.integers(1, 30)
)
EXAMPLES = st.builds(HeldOut, lost=st.sampled_from([(), ("a",)]), gained=st.sampled_from([(), ("b",)]))


@given(st.lists(st.tuples(EDITS, EXAMPLES), min_size=1, max_size=6))
def test_order_does_not_depend_on_the_order_of_asking_and_what_breaks_an_example_is_last(
    given: list[tuple[Candidate, HeldOut]],
) -> None:
    trials, examples = [Trial((c,)) for c, _ in given], [e for _, e in given]
    best = [s.order for s in ordered(trials, examples)]
    assert best == [s.order for s in ordered(trials[::-1], examples[::-1])]
    lost = [len(s.examples.lost) for s in ordered(trials, examples)]
    assert all(a <= b for a, b in itertools.pairwise(lost))
