"""The page in a real browser: what it says, that it stays up to date, and that nothing from a run can act in it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import page_records as r
import pytest
from axe_playwright_python.sync_playwright import Axe
from page_scene import EVIL, FAILED, HOSTILE, LONG, LONGEST, SOLVED, Server, Watched
from playwright.sync_api import Browser

from referee.adapters.store.owner import me
from referee.domain.report import Iteration

PAINT = "performance.getEntriesByName('first-contentful-paint')"
PAGES = {
    "runs": "/",
    "run": f"/runs/{FAILED}",
    "solved run": f"/runs/{SOLVED}",
    "hostile run": f"/runs/{HOSTILE}",
    "journal": f"/runs/{FAILED}/journal",
    "trace": f"/runs/{FAILED}/trace",
    "compare": f"/compare?a={SOLVED}&b={FAILED}",
    "doctor": "/doctor",
}


def test_runs_are_listed_and_filtered(server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(server.base)
    assert page.get_by_role("heading", name="Runs").is_visible()
    page.get_by_label("State").select_option("Solved")  # the form sends itself
    page.wait_for_url("**/?state=solved*")
    assert page.get_by_role("link", name="total() is one too small").is_visible()
    assert page.get_by_role("link", name="the cart loses items").count() == 0
    page.get_by_label("State").select_option("All")
    page.wait_for_url("**/?state=all*")
    page.get_by_label("Contains").fill("LOSES cart")
    page.get_by_label("Contains").press("Enter")
    page.wait_for_url("**q=LOSES*")
    assert page.get_by_text("1 of 5 runs").is_visible()


def test_a_run_tells_everything_by_its_labels(server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{server.base}/runs/{FAILED}")
    assert page.get_by_role("heading", name="the cart loses items").is_visible()
    for meter in ("steps", "time", "tokens", "money", "pressure"):
        assert page.get_by_role("meter", name=meter).count() == 1
    assert page.get_by_text("checks and commands took 3.1 s").is_visible()
    steps = page.get_by_role("region", name="Steps").get_by_role("listitem")
    assert "failed at L3 (killed: memory)" in steps.filter(has_text="killed").first.inner_text()
    finding = page.get_by_role("region", name="Last findings")
    assert "assert 4 == 5" in finding.inner_text() and "expected" in finding.inner_text()
    change = page.get_by_role("table", name="Changes of src/cart.py")
    assert change.locator("del").inner_text() == "    return sum(cart) - 1"
    assert change.locator("ins").inner_text() == "    return sum(cart)"
    assert change.locator("ins .c-keyword").inner_text() == "return"
    assert r.sha(r.DIFF) in page.get_by_role("region", name="Change", exact=True).inner_text()


def test_the_journal_and_the_trace_show_each_action(server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{server.base}/runs/{FAILED}")
    page.get_by_role("link", name="Journal").click()
    rows = page.get_by_role("table", name=f"Journal of {FAILED}").get_by_role("row")
    assert rows.filter(has_text="1:snapshot").count() == 2
    assert rows.filter(has_text="fault").count() == 1
    page.get_by_role("link", name="Trace").click()
    spans = page.get_by_role("table", name=f"Actions of {FAILED}").get_by_role("row")
    assert "50 ms" in spans.filter(has_text="snapshot").inner_text()
    assert page.locator("rect.bad").count() == 1


def test_memory_and_skills_are_shown(server: Server, repository: Path, watched: Watched) -> None:
    folder = repository / ".agents" / "skills" / "release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: release\ndescription: how to release {EVIL}\n---\nTag it.\n")
    page = watched.page
    page.goto(server.base)
    page.get_by_role("link", name="Memory").click()
    assert page.get_by_text("Nothing is remembered").is_visible()
    row = page.get_by_role("table", name="Skills").get_by_role("row").filter(has_text="release")
    assert f"how to release {EVIL}" in row.inner_text() and ".agents/skills/release" in row.inner_text()
    assert not [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]


def test_two_runs_are_compared(server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{server.base}/runs/{FAILED}")
    page.get_by_role("link", name="Compare", exact=True).last.click()
    page.get_by_label("Second run").select_option(SOLVED)  # sends itself, too
    page.wait_for_url(f"**b={SOLVED}*")
    outcome = page.get_by_role("row", name="outcome")
    assert outcome.inner_text().split("\t") == ["outcome", "non progress", "solved", "differ"]
    assert page.get_by_text("Both changes are the same, byte for byte.").is_visible()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_and_asks_only_its_own_server(name: str, server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(server.base + PAGES[name])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
        assert not found, [(v["id"], [n["html"] for n in v["nodes"]][:3]) for v in found]
    if name == "doctor":
        assert page.get_by_role("heading", name="bubblewrap").is_visible()
    assert not watched.faults
    assert all(url.startswith(server.base) for url in watched.asked)


@pytest.mark.parametrize("path", [f"/runs/{HOSTILE}", f"/runs/{HOSTILE}/journal", f"/runs/{HOSTILE}/trace", "/"])
def test_nothing_from_a_run_can_act(path: str, server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(server.base + path)
    assert page.locator("main script, main img, main iframe").count() == 0
    assert "document.title=" in page.locator("main").inner_text()  # it is shown, as text
    assert page.evaluate("document.title") != "owned"
    assert "\x1b" not in page.content() and "\u202e" not in page.content()
    assert not watched.faults  # a script that the policy stopped would be told here


def test_a_page_fits_a_phone_and_the_keyboard(server: Server, watched: Watched) -> None:
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/", f"/runs/{FAILED}", f"/runs/{FAILED}/journal", f"/compare?a={SOLVED}&b={FAILED}"):
        page.goto(server.base + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    page.goto(server.base)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_a_theme_is_remembered(server: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(server.base)
    for words in ("light", "dark"):
        page.get_by_role("button", name="Theme").click()
        assert page.get_by_role("button", name=f"Theme: {words}").is_visible()
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(18, 19, 21)"
    page.get_by_role("button", name="Theme").click()


def test_long_runs_are_quick(server: Server, watched: Watched) -> None:
    """Only a page of a long run is shown. With REFEREE_FIRST_PAINT, in seconds, its first paint is held to that.

    How long it takes on a machine that is busy with other tests says little.
    """
    page, bar = watched.page, float(os.environ.get("REFEREE_FIRST_PAINT", "inf"))
    for name in (LONG, LONGEST):
        page.goto(f"{server.base}/runs/{name}")
        page.wait_for_function(f"{PAINT}.length > 0")
        painted = page.evaluate(f"{PAINT}[0].startTime") / 1000
        print(f"{name}: first contentful paint after {painted:.2f} s")
        assert painted <= bar, name
    assert page.get_by_text("page 100 of 100").is_visible()
    assert page.get_by_role("region", name="Steps").locator(".rounds > li").count() == 100
    page.goto(f"{server.base}/runs/{LONGEST}/journal?page=200")
    assert page.get_by_role("table", name=f"Journal of {LONGEST}").get_by_role("row").count() == 201
    page.goto(f"{server.base}/runs/{LONGEST}/trace?page=100")
    assert page.locator("rect").count() > 100


def test_a_running_run_is_followed_live(server: Server, repository: Path, watched: Watched) -> None:
    """Every step appears without a reload; the focus stays where it is."""
    state = repository / ".harness"
    writer = r.Writer(state, "live", r.spec("a run that goes on"))
    writer.judged(r.row(1))
    writer.flush()
    writer.claim(me(), time.time())
    page = watched.page
    page.goto(f"{server.base}/runs/live")
    assert page.get_by_text("running").first.is_visible()
    page.get_by_role("button", name="Stop this run").focus()
    writer.judged(Iteration.model_validate({**r.row(2).model_dump(), "author": "the second author"}))
    writer.add("3:call_model", r.Kind.REQUESTED, {"action_digest": "0" * 64, "effect": "spend"}, "call_model")
    writer.flush()
    page.get_by_text("the second author", exact=True).wait_for()
    assert page.get_by_text("now: call_model").is_visible()
    assert page.evaluate("document.activeElement.id") == "stop"
    assert page.get_by_role("status").inner_text() == "running, step 2 of 8"
    page.get_by_role("button", name="Stop this run").click()
    page.get_by_text("asked to stop").wait_for()
    assert [s.name for s in writer.store.left("live", "stop")] == ["1"]
    writer.finish_as(r.ended("live", "a run that goes on", [r.row(1), r.row(2)]))
    page.get_by_text("solved", exact=True).first.wait_for()
    assert not watched.faults


def test_two_browsers_cannot_share_a_link(browser: Browser, server: Server, let_in: object) -> None:
    stranger = browser.new_context()
    page = stranger.new_page()
    assert page.goto(server.link).status == 403
    assert "has been used" in page.locator("main").inner_text()
    assert page.goto(server.base).status == 401
    stranger.close()


def test_the_documented_picture_is_of_this_page(server: Server, watched: Watched, tmp_path: Path) -> None:
    """With REFEREE_PICTURES the pictures in docs/ are made anew; without, they are made and thrown away."""
    page = watched.page
    page.set_viewport_size({"width": 1100, "height": 760})
    folder = Path(__file__).parents[2] / "docs" / "pictures" if os.environ.get("REFEREE_PICTURES") else tmp_path
    folder.mkdir(exist_ok=True)
    page.goto(f"{server.base}/runs/{FAILED}")
    page.screenshot(path=folder / "run.png", full_page=True)
    page.goto(server.base)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=folder / "runs.png")
    assert all(0 < p.stat().st_size < 150_000 for p in folder.glob("run*.png"))
