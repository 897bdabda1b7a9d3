"""From a proposal to bytes: exactly what was named changes, and what does not fit is refused with what is there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from referee.domain.errors import Rejected
from referee.domain.finding import FindingKind
from referee.domain.notices import left_out
from referee.domain.patch import FileContent, Patch
from referee.domain.proposal import Edit, PatchProposal, ProposedFile
from referee.domain.resolve import resolve


def file(path: str, *edits: tuple[str, str], content: str | None = None, action: str = "modify") -> ProposedFile:
    changes = tuple(Edit(old=old, new=new) for old, new in edits)
    return ProposedFile(path=path, action=action, content=content, edits=changes, rationale="why")


def patch(tree: Mapping[str, bytes], *files: ProposedFile, executable: tuple[str, ...] = ()) -> Patch:
    proposal = PatchProposal(analysis="", root_cause="", files=files)
    return resolve(proposal, tree.get, lambda p: p in executable, sorted(tree))


def edited(data: bytes, *edits: tuple[str, str]) -> bytes:
    (change,) = patch({"a.py": data}, file("a.py", *edits)).changes
    assert change.after is not None
    return change.after.data


def rewritten(data: bytes, content: str) -> bytes:
    (change,) = patch({"a.py": data}, file("a.py", content=content)).changes
    assert change.after is not None
    return change.after.data


def refusal(tree: Mapping[str, bytes], *files: ProposedFile) -> str:
    with pytest.raises(Rejected) as raised:
        patch(tree, *files)
    assert {f.kind for f in raised.value.findings} == {FindingKind.UNAPPLIABLE}
    return str(raised.value)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a = 1\nb = 2\n", "b = 2", "b = 3", b"a = 1\nb = 3\n"),
        (b"a = 1\r\nb = 2\r\n", "b = 2", "b = 3\nc = 4", b"a = 1\r\nb = 3\r\nc = 4\r\n"),
        (b"a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n", b"a = 1\r\nb = 3\r\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nB\nc\nd\n", b"a\r\nB\nc\r\nd\n"),
        (b"a\r\nb\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "\nb", "\nB", b"a\r\nB\r\n"),
        (b"a\nb\n", "a\r\nb", "a\r\nB", b"a\nB\n"),
        (b"x = '\r'\ny = 1\n", "y = 1", "y = 2", b"x = '\r'\ny = 2\n"),
        (b"a\nlast", "last", "end", b"a\nend"),
        (b"a\r\nlast", "last", "x\ny", b"a\r\nx\r\ny"),
        (b"\xef\xbb\xbfa = 1\n", "a = 1", "a = 2", b"\xef\xbb\xbfa = 2\n"),
        ("é = 1\n".encode(), "é = 1", "é = 2", "é = 2\n".encode()),
        (b"x = False\n# caf\xe9\n", "False", "True", b"x = True\n# caf\xe9\n"),
        (b"a\n\n\n", "a\n", "b\n", b"b\n\n\n"),
    ],
)
def test_an_edit_changes_what_it_names_and_no_other_byte(before: bytes, old: str, new: str, after: bytes) -> None:
    """Cases A33 and A34: line endings, byte order mark, bare carriage return, no final newline, Latin-1."""
    assert edited(before, (old, new)) == after


def test_edits_are_found_in_the_original_and_made_at_once() -> None:
    assert edited(b"a b c\n", ("a", "b"), ("c", "a"), ("b", "c")) == b"b c a\n"


def test_an_ambiguous_edit_is_refused_even_if_it_overlaps_itself() -> None:
    """Case G7."""
    assert "occurs 2 times (lines 1, 1)" in refusal({"a.py": b"aaa"}, file("a.py", ("aa", "b")))
    assert "(lines 1, 3)" in refusal({"a.py": b"x = 1\n\nx = 1\n"}, file("a.py", ("x = 1", "x = 2")))


def test_an_edit_that_is_not_there_names_what_is() -> None:
    """Case G6."""
    tree = {"a.py": b"def f(a):\n    total = a + 1\n    return total\n"}
    text = refusal(tree, file("a.py", ("    totl = a + 1\n", "")))
    assert "edit 1: `old` is not in the file; nearest is line 2, which reads exactly:\n    total = a + 1" in text
    spaced = refusal(tree, file("a.py", ("  total = a+1", "x")))
    assert "(only white space differs)" in spaced
    assert "copy it from the file as shown" in refusal(tree, file("a.py", ("@@@@ ???", "x")))


def test_overlapping_edits_are_refused_and_adjacent_ones_are_not() -> None:
    assert "edits 1 and 2 overlap" in refusal({"a.py": b"abcd"}, file("a.py", ("ab", "x"), ("bc", "y")))
    assert edited(b"abcd", ("ab", "x"), ("cd", "y")) == b"xy"


def test_all_defects_of_all_files_are_reported_and_nothing_is_half_applied() -> None:
    """Case G9."""
    tree = {"a.py": b"a\n", "b.py": b"b\n"}
    with pytest.raises(Rejected) as raised:
        patch(tree, file("a.py", ("a", "A")), file("b.py", ("x", "y"), ("z", "y")), file("c.py", ("x", "y")))
    assert [f.path for f in raised.value.findings] == ["b.py", "c.py"]
    assert "edit 1" in raised.value.findings[0].message
    assert "edit 2" in raised.value.findings[0].message


def test_the_same_edit_a_second_time_is_refused() -> None:
    """Case G10."""
    once = edited(b"x = 1\n", ("x = 1", "x = 2"))
    assert "is not in the file" in refusal({"a.py": once}, file("a.py", ("x = 1", "x = 2")))


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\nb\n", "c\n", b"c\n"),
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nc\r\n", b"a\r\nc\r\n"),
        (b"a\r\nb\n", "a\nc\n", b"a\nc\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
    ],
)
def test_whole_content_keeps_the_line_endings_and_the_byte_order_mark(
    before: bytes, content: str, after: bytes
) -> None:
    assert rewritten(before, content) == after


def test_whole_content_of_a_file_that_nobody_could_read_is_refused() -> None:
    """Case A34."""
    assert "not UTF-8" in refusal({"a.py": b"# caf\xe9\n"}, file("a.py", content="# cafe\n"))
    assert "not ASCII" in refusal({"a.py": b"x = 1 # caf\xe9\n"}, file("a.py", ("x = 1", "x = 'ü'")))


def test_the_executable_bit_stays() -> None:
    kept = patch({"a.sh": b"a\n"}, file("a.sh", ("a", "b")), executable=("a.sh",))
    assert kept.changes[0].after == FileContent(data=b"b\n", executable=True)
    assert patch({}, file("n.py", content="", action="create")).changes[0].after == FileContent(data=b"")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/a.py", "exists already; use the action modify"),
        ("src/A.py", "src/a.py exists already and differs only in case"),
        ("src/a.py/b.py", "src/a.py is a file, not a folder"),
        ("src", "is a folder, not a file"),
    ],
)
def test_a_new_file_takes_nobodys_place(path: str, words: str) -> None:
    """Case G15."""
    assert words in refusal({"src/a.py": b"a\n"}, file(path, content="x\n", action="create"))


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", ".git/config", "a\\b.py", "C:/x.py", "", "a/./b.py"])
def test_a_path_that_leads_out_is_unauthorised_and_never_read(path: str) -> None:
    """Case G15."""
    asked: list[str] = []
    files = (file(path, content="x\n", action="create"), file("a.py", ("no", "yes")))
    proposal = PatchProposal(analysis="", root_cause="", files=files)
    with pytest.raises(Rejected) as raised:
        resolve(proposal, lambda p: asked.append(p) or b"a\n", lambda p: False)
    assert [f.kind for f in raised.value.findings] == [FindingKind.UNAUTHORISED, FindingKind.UNAPPLIABLE]
    assert asked == ["a.py"]


def test_what_is_forbidden_is_said_before_whether_it_would_fit() -> None:
    proposal = PatchProposal(analysis="", root_cause="", files=(file("tests/test_a.py", ("no such text", "")),))
    with pytest.raises(Rejected) as raised:
        resolve(proposal, lambda p: b"a\n", lambda p: False, forbidden=lambda p: f"{p} is protected")
    assert [f.kind for f in raised.value.findings] == [FindingKind.UNAUTHORISED]


def test_a_missing_file_is_named_with_the_nearest() -> None:
    tree = {"src/shop/cart.py": b"a\n", "src/shop/price.py": b"b\n"}
    assert "no such file to modify; the nearest is src/shop/cart.py" in refusal(tree, file("shop/cart.py", ("a", "b")))
    assert "no such file to delete" in refusal(tree, file("src/shop/prices.py", action="delete"))


def test_deleting_a_file_that_is_there() -> None:
    (change,) = patch({"a.py": b"a\n"}, file("a.py", action="delete")).changes
    assert change.after is None


def test_a_proposal_without_effect_is_refused() -> None:
    assert "changes nothing" in refusal({"a.py": b"a\n"}, file("a.py", content="a\n"))
    both = patch({"a.py": b"a\n", "b.py": b"b\n"}, file("a.py", content="a\n"), file("b.py", content="c\n"))
    assert both.touched == ("b.py",)


def test_our_own_truncation_marks_never_become_file_content() -> None:
    """Case G13; a file that has such a mark of its own may keep it."""
    mark = left_out("lines 10-400")
    assert "mark" in refusal({"a.py": b"a\n"}, file("a.py", content=f"a = 1\n{mark}\n"))
    assert "mark" in refusal({"a.py": b"a\n"}, file("a.py", ("a", mark)))
    own = f"a = 1  # {mark}\n"
    assert edited(own.encode(), ("a = 1", "a = 2")) == own.replace("a = 1", "a = 2").encode()
