"""Reports for people: nothing from a run can become markup, a request, or a command to the terminal."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.domain.component import budget_meter
from referee.domain.cost import Budget, Cost
from referee.domain.reason import StopReason
from referee.domain.report import IsolationStamp, Iteration, Landed, Report, Setting
from referee.render import headline, html, markdown, plain, text
from referee.render.plain import line
from referee.render.words import REASONS, dollars

EVIL = "\x1b]52;c;ZXZpbA==\x07<script>alert(1)</script>|`[x](javascript:y)\u202e\r\n\x9b2J"


def report(**more: object) -> Report:
    base: dict[str, object] = {
        "run_id": "20250101-000000-abcd",
        "task": "mend it",
        "stop_reason": StopReason.SOLVED,
        "solved": True,
        "steps": 2,
        "candidates_judged": 41,
        "wall_seconds": 4.0,
        "cost_usd": Decimal("0.0174"),
        "touched_files": ("src/pricing.py",),
        "landed": Landed(how="tree"),
    }
    return Report.model_validate({**base, **more})


def evil() -> Report:
    return report(
        task=EVIL,
        solved=False,
        stop_reason=StopReason.NON_PROGRESS,
        targets=(EVIL,),
        explanation=EVIL,
        feedback=EVIL,
        notes=(EVIL,),
        alternatives=(EVIL,),
        generator=EVIL,
        isolation=IsolationStamp(backend=EVIL, level=EVIL),
        iterations=(Iteration(step=1, author=EVIL, failed=(EVIL,), touched=(EVIL,), note=EVIL, fingerprint=EVIL),),
        config=(Setting(key=EVIL, value=EVIL, origin=EVIL),),
        environment={EVIL: EVIL},
        touched_files=(EVIL,),
    )


class Page(HTMLParser):
    """Collects what a browser would make of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("render", [text, markdown, html, headline], ids=["text", "markdown", "html", "headline"])
def test_no_control_characters_anywhere(render: object) -> None:
    """Case E13: escape sequences in what a run produced never reach a viewer."""
    assert callable(render)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", render(evil()))


def test_html_has_no_scripts_links_or_assets() -> None:
    page = Page(html(evil(), diff=f"+{EVIL}"))
    assert page.tags <= {"html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "p",
                         "ul", "ol", "li", "span", "pre", "code", "div", "meter", "table", "caption", "colgroup", "col",
                         "thead", "tbody", "tr", "th", "td", "ins", "del"}  # fmt: skip
    assert not page.attributes & {"src", "href", "onclick", "onload", "style"}
    whole = html(report())
    assert "default-src &#x27;none&#x27;" in whole and "url(" not in whole and "<script" not in whole


def test_markdown_escapes_markup_and_keeps_tables_whole() -> None:
    page = markdown(evil())
    assert "<script>" not in page.split("## Last failure")[0]
    row = next(r for r in page.splitlines() if r.startswith("| 1 |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 9


def test_a_fence_cannot_be_closed_from_inside() -> None:
    page = markdown(report(), diff="+````\n+# not a heading\n")
    assert "\n`````diff\n" in page


def test_diff_lines_are_marked() -> None:
    page = html(report(), diff="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a < b\n+a <= b\n")
    assert "<del>a &lt; b</del>" in page
    assert "<ins>a &lt;= b</ins>" in page


def test_markdown_fits_a_comment() -> None:
    long = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,9000 @@\n" + "+line of code\n" * 9_000
    page = markdown(report(), long)
    assert 50_000 < len(page) <= 65_536
    assert "more lines: `referee show 20250101-000000-abcd --format diff`" in page
    assert page.count("```") == 2


def test_headline_says_what_happened() -> None:
    assert headline(report()) == (
        "Solved in 2 steps, 41 candidates judged, 4.0 s, $0.0174: src/pricing.py, in your working tree"
    )
    failed = headline(report(solved=False, stop_reason=StopReason.TIMEOUT, steps=1, landed=None))
    assert failed.startswith("Not solved (timeout): the time is used up; allow more with --timeout. 1 step")
    assert headline(report(landed=Landed(how="branch:fix"))).endswith("on branch fix")
    assert headline(report(landed=Landed(how="none"))).endswith("nothing was written")


def test_every_reason_has_words() -> None:
    assert REASONS.keys() == set(StopReason)


def test_axes_never_leave_their_range() -> None:
    for spent in (Cost(), Cost(steps=99, seconds=1e9, tokens=10**9, usd=Decimal(99))):
        assert all(
            0.0 <= a.share <= 1.0 for a in budget_meter(Budget(max_tokens=0, max_cost_usd=Decimal(0)), spent).meters
        )
    assert [a.name for a in budget_meter(Budget(), Cost()).meters] == ["steps", "time", "tokens", "money"]


def test_dollars_hide_nothing() -> None:
    assert [dollars(Decimal(t)) for t in ("0", "0.50", "12.3", "0.0174")] == ["$0.00", "$0.50", "$12.30", "$0.0174"]


@given(st.text())
def test_plain_is_printable_and_leaves_ordinary_text(given: str) -> None:
    assert all(c in "\n\t" or c.isprintable() or unicodedata.category(c) == "Zs" for c in plain(given))
    assert plain(plain(given)) == plain(given)


def test_plain_keeps_letters_of_all_languages() -> None:
    assert plain("naïve 日本語 ñ ✓\n\t") == "naïve 日本語 ñ ✓\n\t"
    assert plain("\x1b[31m\u200b\ud800") == "\\x1b[31m\\u200b\\ud800"


def test_line_is_one_line_of_at_most_the_width() -> None:
    assert line("a\n b\tc", 4) == "a b…"
    assert line("abcd", 4) == "abcd"
