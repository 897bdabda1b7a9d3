"""A diff as two sides: every line of it is there once, on its side, with its number."""

from __future__ import annotations

import difflib
import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.domain.component import DiffReview, diff_review

_LINES = st.lists(st.sampled_from(["a", "b", "", "--- x", "+++ y", "@@ -1 +1 @@", "-", "+ z", "\\ q"]), max_size=30)


def of(before: list[str], after: list[str]) -> str:
    rows = difflib.unified_diff(before, after, "a/f.txt", "b/f.txt", lineterm="", n=3)
    return "diff --git a/f.txt b/f.txt\n" + "\n".join(rows) + "\n"


@settings(max_examples=60)
@given(_LINES, _LINES)
def test_both_sides_are_the_files(before: list[str], after: list[str]) -> None:
    text = of(before, after)
    review = diff_review(text)
    assert review.digest == hashlib.sha256(text.encode()).hexdigest()
    for hunk in (h for f in review.files for h in f.hunks):
        for side in hunk.sides:
            assert side.old_number is None or side.old == before[side.old_number - 1]
            assert side.new_number is None or side.new == after[side.new_number - 1]
    changed = [s for f in review.files for h in f.hunks for s in h.sides if not s.same]
    gone = sum(s.old is not None for s in changed)
    come = sum(s.new is not None for s in changed)
    assert (gone, come) == (sum(f.removed for f in review.files), sum(f.added for f in review.files))
    assert len(before) - gone == len(after) - come
    assert DiffReview.model_validate_json(review.model_dump_json()) == review


def test_what_lines_cannot_say_is_in_words() -> None:
    text = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
        "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n"
    )
    files = diff_review(text).files
    assert [(f.path, f.note, f.added, f.removed) for f in files] == [
        ("new.py", "created", 1, 0),
        ("old.py", "deleted", 0, 1),
        ("b.py", "renamed from a.py", 0, 0),
        ("run.sh", "now executable", 0, 0),
        ("x.png", "binary", 0, 0),
    ]
    assert diff_review("") == DiffReview()
    assert diff_review(text, most=3).cut == text.count("\n") + 1 - 3


_ODD = ["diff --git a/n b/n", "*/ drop;", "index drop;", "--- a/drop", "+++ b/n", "--- /dev/null", "+drop", "\\ drop"]
_ODD += ["@@ -1 +1,2 @@ drop", "new file mode drop", "Binary files drop", "GIT binary patch", "rename from drop"]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(_ODD), max_size=12))
def test_no_line_of_what_only_looks_like_a_diff_is_lost(lines: list[str]) -> None:
    numbered = [line.replace("drop", f"drop{n}.") for n, line in enumerate(lines)]
    shown = diff_review("\n".join(numbered)).model_dump_json()
    assert [line for n, line in enumerate(numbered) if "drop" in line and f"drop{n}." not in shown] == []


def test_a_real_diff_has_no_plain_lines() -> None:
    text = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0000000..0123abc\n--- /dev/null\n+++ b/new.py\n"
        "@@ -0,0 +1 @@\n+x = 1\n\\ No newline at end of file\n"
        "diff --git a/x.png b/x.png\nindex 01..02 100644\nGIT binary patch\nliteral 3\nKcmZQzVE_ak000mG\n\nliteral 0\n"
        "HcmV?d00001\n\n"
        "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
    )
    assert [(f.path, f.note, f.plain) for f in diff_review(text).files] == [
        ("new.py", "created, no newline at its end", ()),
        ("x.png", "binary", ()),
        ("b.py", "renamed from a.py", ()),
    ]
