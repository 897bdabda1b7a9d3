"""Reading and changing files: pages, versions, exact edits, denials that say what to do instead."""

from __future__ import annotations

import pytest
from rooms import ROOT, Bench

SOURCE = "def add(a, b):\n    return a - b\n"


@pytest.fixture
def bench() -> Bench:
    return Bench({"src/calc.py": SOURCE, "tests/test_calc.py": "x", "long.txt": "".join(f"{n}\n" for n in range(5000))})


def test_a_file_is_shown_with_numbers_and_what_there_is_of_it(bench: Bench) -> None:
    seen = bench.call("read", path="src/calc.py")
    assert seen.text == "1\tdef add(a, b):\n2\t    return a - b\n[src/calc.py: lines 1-2 of 2]"
    assert bench.call("read", path=f"{ROOT}/src/calc.py").text == seen.text, "as commands see it"


def test_a_long_file_comes_in_pages(bench: Bench) -> None:
    first = bench.call("read", path="long.txt")
    assert first.text.endswith("[long.txt: lines 1-2000 of 5000; read on with offset=2001]")
    last = bench.call("read", path="long.txt", offset=4001)
    assert last.text.endswith("[long.txt: lines 4001-5000 of 5000]")
    beyond = bench.call("read", path="long.txt", offset=5001)
    assert (beyond.outcome, "5000 lines" in beyond.text) == ("failed", True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "PNG image of 9 bytes"),
        (b"a\0b", "binary file of 3 bytes"),
        (b"caf\xe9\n", "1 bytes are no UTF-8"),
        (b"", "empty"),
        (b"a" * 3000, "1 line cut at 2000 characters"),
        (b"\x1b[31mred\x1b[0m\n", "1\tred\n"),
    ],
)
def test_what_is_no_plain_text_is_said(data: bytes, said: str) -> None:
    assert said in Bench({"f": data}).call("read", path="f").text


def test_what_is_not_there_is_answered_with_what_is(bench: Bench) -> None:
    missing = bench.call("read", path="calc.py")
    assert (missing.outcome, "did you mean src/calc.py?" in missing.text) == ("failed", True)
    assert "calc.py" in bench.call("read", path="src").text
    outside = bench.call("read", path="../../etc/passwd")
    assert (outside.outcome, "outside the workspace" in outside.text) == ("failed", True)


def test_a_file_is_read_before_it_is_changed_and_in_the_version_that_was_read(bench: Bench) -> None:
    wanted = {"path": "src/calc.py", "edits": [{"old": "a - b", "new": "a + b"}]}
    unread = bench.call("edit", **wanted)
    assert (unread.outcome, "read it first" in unread.text) == ("failed", True)
    bench.call("read", path="src/calc.py")
    assert bench.call("edit", **wanted).outcome == "done"
    assert bench.file("src/calc.py") == SOURCE.replace("a - b", "a + b").encode()
    again = bench.call("edit", path="src/calc.py", edits=[{"old": "a + b", "new": "b + a"}])
    assert again.outcome == "done", "its own change is known to it"
    bench.room.tree = bench.workspace.snapshot("r1").tree  # as a command would
    stale = bench.call("edit", path="src/calc.py", edits=[{"old": "a - b", "new": "a"}])
    assert (stale.outcome, "no longer as you read it" in stale.text) == ("failed", True)


def test_a_file_that_was_read_in_part_is_not_replaced_whole(bench: Bench) -> None:
    bench.call("read", path="long.txt")
    refused = bench.call("write", path="long.txt", content="short")
    assert (refused.outcome, "in part" in refused.text) == ("failed", True)
    for offset in (2001, 4001):
        bench.call("read", path="long.txt", offset=offset)
    assert bench.call("write", path="long.txt", content="short").outcome == "done"


def test_edits_are_all_made_or_none_and_a_miss_names_what_is_nearest(bench: Bench) -> None:
    bench.call("read", path="src/calc.py")
    missed = bench.call(
        "edit", path="src/calc.py", edits=[{"old": "def add", "new": "def plus"}, {"old": "return a -  b", "new": "x"}]
    )
    assert (missed.outcome, "nearest is line 2" in missed.text) == ("failed", True)
    assert bench.file("src/calc.py") == SOURCE.encode()
    twice = bench.call("edit", path="src/calc.py", edits=[{"old": "a", "new": "x"}])
    assert "lengthen it until it is unique" in twice.text
    assert bench.call("edit", path="src/calc.py", edits=[{"old": "b", "new": "c", "all": True}]).outcome == "done"
    assert bench.file("src/calc.py") == SOURCE.replace("b", "c").encode()


def test_line_endings_stay_where_every_occurrence_is_replaced() -> None:
    bench = Bench({"f": b"a\r\nb\r\na\r\nb\r\n"})
    bench.call("read", path="f")
    bench.call("edit", path="f", edits=[{"old": "a\nb", "new": "x\ny", "all": True}])
    assert bench.file("f") == b"x\r\ny\r\nx\r\ny\r\n"


def test_new_files_are_written_moved_and_deleted(bench: Bench) -> None:
    made = bench.call("write", path="src/new/deep.py", content="x = 1\n")
    assert made.text == "created src/new/deep.py: 6 bytes, +1 -0 lines"
    taken = bench.call("move", path="src/new/deep.py", to="src/calc.py")
    assert (taken.outcome, "there already" in taken.text) == ("failed", True)
    bench.call("move", path="src/new/deep.py", to="src/flat.py")
    assert (bench.file("src/flat.py"), bench.file("src/new/deep.py")) == (b"x = 1\n", None)
    assert bench.call("delete", path="src/flat.py").outcome == "done"
    assert bench.file("src/flat.py") is None
    assert bench.workspace.files.keys() == {"src/calc.py", "tests/test_calc.py", "long.txt"}, "the user's are untouched"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write", {"path": "tests/test_calc.py", "content": ""}),
        ("write", {"path": "conftest.py", "content": ""}),
        ("write", {"path": "secret/x", "content": ""}),
        ("edit", {"path": "tests/test_calc.py", "edits": [{"old": "x", "new": "y"}]}),
        ("delete", {"path": "tests/test_calc.py"}),
        ("move", {"path": "tests/test_calc.py", "to": "src/t.py"}),
        ("move", {"path": "src/calc.py", "to": "tests/test_new.py"}),
    ],
)
def test_what_is_protected_is_denied_with_the_rule_and_a_way_on(
    bench: Bench, name: str, arguments: dict[str, object]
) -> None:
    before = bench.room.tree
    denied = bench.call(name, **arguments)
    assert denied.outcome == "denied"
    assert "denied by the rule protected" in denied.text
    assert "Do not try it another way" in denied.text
    assert bench.room.tree == before


def test_files_are_found_by_name(bench: Bench) -> None:
    assert bench.call("glob", pattern="*.py").text.splitlines() == [
        "src/calc.py",
        "tests/test_calc.py",
        "[2 of 2 matches]",
    ]
    assert bench.call("glob", pattern="src/**/*.py").text.splitlines()[0] == "src/calc.py"
    assert bench.call("glob", pattern="*", path="src").text.splitlines()[0] == "src/calc.py"
    assert "no file matches" in bench.call("glob", pattern="*.rs").text


def test_a_folders_guide_is_told_with_the_first_file_below_it() -> None:
    bench = Bench({"AGENTS.md": "root", "a/CLAUDE.md": "use tabs", "a/b/x.py": "1\n", "a/b/y.py": "2\n"})
    assert bench.call("read", path="a/b/x.py").text.startswith("[a/CLAUDE.md says, as advice:]\nuse tabs\n[end")
    assert "use tabs" not in bench.call("read", path="a/b/y.py").text
