"""The gist of output that nobody can read: what is told of it, and what it is known by."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.judge.noise import gist, noisy, place, steady_lines

TEXT = st.lists(st.text(max_size=400), max_size=60)


@settings(max_examples=25)
@given(TEXT)
def test_it_is_short_whatever_is_said(lines: list[str]) -> None:
    assert len("\n".join(gist(lines))) <= 4_000


def test_short_output_is_told_whole() -> None:
    assert gist(["one", "", "two"]) == ("one", "two")


def test_the_error_is_told_wherever_it_is() -> None:
    lines = [f"step {chr(97 + n % 26)}{chr(97 + n % 7)} of the work" for n in range(900)]
    for at in (0, 1, 450, 899):
        told = gist([*lines[:at], "error: wanted 5, got 6", *lines[at:]])
        assert "error: wanted 5, got 6" in told
        assert any(line.endswith("lines …") for line in told)


def test_lines_of_one_shape_are_counted() -> None:
    assert gist([f"warning {n}" for n in range(500)]) == ("warning 0", "… 499 more such lines")


def test_progress_and_downloads_are_noise_unless_they_fail() -> None:
    for line in (
        "",
        "-----",
        " 45%|████▌     | 9/20",
        "[####      ] 40%",
        "Collecting rich",
        "ok 4 - adds",
        "12:01 INFO up",
    ):
        assert noisy(line), line
    for line in ("Collecting rich failed", "INFO error: no", "not ok 5 - adds", "expected 100%", "x = 1"):
        assert not noisy(line), line


def test_the_place_is_the_projects_own() -> None:
    trace = [
        '  File "/repo/a.py", line 3, in f',
        '  File "/repo/b.py", line 9, in g',
        '  File "/usr/x.py", line 1, in h',
    ]
    found = place(trace, "/repo")
    assert found is not None and (found.path, found.line, found.function) == ("b.py", 9, "g")
    for line in ("./src/a.c:12:3: error", "  --> src/a.c:12:5", "    at f (/repo/src/a.c:12:3)"):
        found = place(["noise", line], "/repo")
        assert found is not None and (found.path, found.line) == ("src/a.c", 12), line
    assert place(["/usr/lib/a.c:3: x", "../a.c:3: x", "at 12:30:00"], "/repo") is None


def test_order_and_noise_do_not_make_another_failure() -> None:
    assert steady_lines(["b", " 10% ", "a"]) == steady_lines(["a", "", "b"])
    assert steady_lines(["a", "b"]) != steady_lines(["a", "c"])
