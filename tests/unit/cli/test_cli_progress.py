"""Progress: live on a terminal, silent in a pipe but for what is loud, and the terminal is always given back."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from referee.cli.progress import Display
from referee.domain.cost import Budget, Cost
from referee.domain.errors import Cancelled
from referee.domain.reason import StopReason
from referee.domain.report import Report

ROUND = {"step": 1, "author": "search", "spent": Cost(), "budget": Budget()}
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard", legacy_windows=False)


def pipe() -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=80)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def report() -> Report:
    return Report(run_id="r", stop_reason=StopReason.NON_PROGRESS, solved=False, steps=3)


def test_a_pipe_sees_notes_and_one_line() -> None:
    console = pipe()
    with Display(console) as display:
        display("round", ROUND)
        display("note", {"text": "the sandbox is weak"})
        display("ended", {})
    display.summary(report())
    rows = written(console).splitlines()
    assert rows[0] == "note: the sandbox is weak"
    assert len(rows) == 2 and rows[1].startswith("Not solved (non_progress)")


def test_quiet_leaves_only_what_is_loud() -> None:
    for console in (pipe(), terminal()):
        with Display(console, quiet=True) as display:
            display("round", ROUND)
            display("note", {"text": "loud"})
        display.summary(report())
        assert "loud" in written(console) and "step 1" not in written(console) and "Not solved" not in written(console)


def test_a_terminal_sees_a_picture() -> None:
    console = terminal()
    with Display(console) as display:
        display("round", ROUND)
        display("note", {"text": "loud"})
    assert "step 1 of 8" in written(console) and "note: loud" in written(console)


@pytest.mark.parametrize("fault", [Cancelled("x"), KeyboardInterrupt(), ValueError()])
def test_the_cursor_comes_back_however_it_ends(fault: BaseException) -> None:
    console = terminal()
    with pytest.raises(type(fault)), Display(console) as display:
        display("round", ROUND)
        raise fault
    assert written(console).rindex(SHOW) > written(console).rindex(HIDE)


def test_a_dumb_terminal_is_treated_like_a_pipe() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, _environ={"TERM": "dumb"})
    with Display(console) as display:
        display("round", ROUND)
    assert "\x1b" not in written(console) and "step 1" not in written(console)


def test_no_color_is_respected() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, _environ={"NO_COLOR": "1", "TERM": "xterm"})
    with Display(console) as display:
        display("round", ROUND)
    assert "\x1b[32m" not in written(console)


def test_notes_are_neutralised() -> None:
    console = pipe()
    Display(console).note("\x1b[2Jx\ny")
    assert written(console) == "note: \\x1b[2Jx y\n"
