"""What the page shows of a question: all that an answer covers."""

from __future__ import annotations

import pytest

from referee.domain.question import Asked, Asking

pytest.importorskip("starlette")
from referee.web.pages.questions import _shown

HIDDEN = "POST\n/*\ndiff --git a/n b/n\n*/ drop table customers;\n"
DIFF = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n"


def shown(action: str, text: str) -> str:
    asked = Asked(
        id="q-1", run_id="r1", kind=Asking.SIGNATURE, summary="s", digest="d", expires_at="", status="open",
        action=action, shown=text,
    )  # fmt: skip
    return str(_shown(asked))


def test_what_is_proposed_is_one_text_however_much_it_looks_like_a_diff() -> None:
    page = shown("call_outside", HIDDEN)
    assert page.count("<pre") == 1
    assert "diff --git a/n b/n\n*/ drop table customers;" in page


@pytest.mark.parametrize("action", ["land", "land_commit", "accept_unjudged"])
def test_a_landing_is_shown_as_a_diff_and_as_it_is_signed(action: str) -> None:
    page = shown(action, f"Land, message:\n\n{HIDDEN}\n{DIFF}")
    assert "<ins>" in page and f"Land, message:\n\n{HIDDEN}\n{DIFF}" in page
    assert page.count("drop table customers;") == 2
