"""What a person sees of a running repair."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from referee.cli.view import View, fold, picture
from referee.domain.cost import Budget, Cost
from referee.domain.finding import Finding
from referee.domain.verdict import Verdict

EVENTS = [
    "opened",
    "baseline",
    "round",
    "author",
    "check",
    "candidate",
    "verdict",
    "decision",
    "note",
    "landing",
    "ended",
]


def seen(view: View, width: int = 80, seconds: float = 0.0) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False, record=True)
    console.print(picture(view, seconds, width))
    return console.export_text()


def told(*events: tuple[str, Mapping[str, Any]]) -> View:
    view = View()
    for event, facts in events:
        view = fold(view, event, facts)
    return view


def failed(message: str) -> Verdict:
    finding = Finding(check="pytest", id="tests/test_a.py::test_b", message=message)
    return Verdict(author="search", proposed=True, passed=False, findings=(finding,))


def test_a_run_from_start_to_end() -> None:
    budget, spent = Budget(), Cost(steps=1, seconds=12.0, tokens=1234)
    view = told(
        ("opened", {"task": "mend it", "targets": ("t",), "spent": spent, "budget": budget}),
        ("round", {"step": 2, "author": "search", "spent": spent, "budget": budget}),
        ("candidate", {"judged": 10, "passed": 1}),
    )
    shown = seen(view)
    assert "referee mend it" in shown
    assert "step 2 of 8 · search · 10 candidates judged, 1 passed the target" in shown
    assert "1 of 8" in shown and "12.0 of 240 s" in shown
    assert "1,234 of 400,000" in shown and "$0.00 of $0.50" in shown


def test_the_last_failure_stays_on_one_line_until_all_pass() -> None:
    view = told(("verdict", {"verdict": failed("expected 1\n  got 2")}))
    assert "last failure: tests/test_a.py::test_b: expected 1 got 2" in seen(view)
    passed = Verdict(author="search", proposed=True, passed=True)
    assert "last failure" not in seen(fold(view, "verdict", {"verdict": passed}))


def test_time_goes_on_between_events() -> None:
    view = told(("round", {"step": 1, "author": "a", "spent": Cost(seconds=5), "budget": Budget()}))
    assert "7.5 of 240 s" in seen(view, seconds=2.5)


def test_pressure_is_said_and_coloured() -> None:
    spent = Cost(steps=7)
    view = told(("round", {"step": 8, "author": "a", "pressed": True, "spent": spent, "budget": Budget()}))
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard", record=True)
    console.print(picture(view, 0, 80))
    assert "short of budget" in seen(view)
    assert "\x1b[31m" in console.export_text(styles=True)


def test_nothing_is_wider_than_the_terminal() -> None:
    view = told(
        ("opened", {"task": "a very long task " * 20}),
        ("round", {"step": 1, "author": "search", "spent": Cost(), "budget": Budget()}),
        ("verdict", {"verdict": failed("x" * 500)}),
    )
    for width in (40, 80, 200):
        assert max(len(row) for row in seen(view, width).splitlines()) <= width


def test_escape_sequences_are_written_out() -> None:
    """Case E13."""
    view = told(("opened", {"task": "\x1b[2Jgone"}), ("verdict", {"verdict": failed("\x1b]0;title\x07")}))
    assert "\x1b" not in seen(view) and "\\x1b[2Jgone" in seen(view)


@given(
    st.sampled_from([*EVENTS, "unheard of"]),
    st.dictionaries(
        st.sampled_from(
            ["task", "targets", "what", "step", "author", "judged", "total", "verdict", "spent", "budget", "text"]
        ),
        st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.floats() | st.booleans(),
    ),
)
def test_no_event_raises(event: str, facts: dict[str, Any]) -> None:
    seen(fold(View(), event, facts))
