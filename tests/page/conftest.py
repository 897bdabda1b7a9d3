"""A real browser, a real server, and a record to look at."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "flows"))

import page_records as r
import small
from page_scene import EVIL, FAILED, HOSTILE, LONG, LONGEST, SOLVED, Server, Watched, enter, serving

from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.reason import StopReason


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with runs of every sort."""
    root = small.build(tmp_path_factory.mktemp("page") / "shop")
    state = root / ".harness"
    state.mkdir()
    (state / ".gitignore").write_text("*\n")
    _run(state, SOLVED, "total() is one too small", [r.row(1), r.row(2, passed=True, failed=(), layer=Layer.SUITE)])
    reason = StopReason.NON_PROGRESS
    _run(state, FAILED, "the cart loses items", [r.row(1), r.row(2, killed_by="memory")], stop_reason=reason)
    nasty = Finding(check=EVIL, id=EVIL, path=EVIL, line=1, message=EVIL, expected=EVIL, actual=EVIL, detail=(EVIL,))
    rows = [r.row(1, author=EVIL, touched=(EVIL,), failed=(EVIL,), fingerprint=EVIL)]
    diff = r.DIFF.replace("src/cart.py", EVIL).replace("what a customer pays", f"{EVIL} \x1b[31m \u202e")
    more = {"stop_reason": reason, "notes": (EVIL,), "explanation": EVIL, "analysis": EVIL}
    _run(state, HOSTILE, EVIL, rows, diff=diff, found=(nasty,), **more)
    for name, count in ((LONG, 1_000), (LONGEST, 10_000)):
        writer = r.Writer(state, name, r.spec(f"a run of {count} steps", max_steps=count))
        for row in (rows := list(r.many(count))):
            writer.judged(row, ())
        writer.flush()
        writer.finish(r.ended(name, f"a run of {count} steps", rows))
    return root


def _run(state: Path, run_id: str, task: str, rows: list[r.Iteration], **more: object) -> None:
    found = more.pop("found", (r.FOUND,))
    writer = r.Writer(state, run_id, r.spec(task))
    writer.act("1:snapshot", "snapshot")
    for row in rows:
        writer.judged(row, () if row.passed else found)  # type: ignore[arg-type]
    name = EVIL if run_id == HOSTILE else "fetch"
    writer.act(f"9:{name}", name, "fault")
    writer.flush()
    writer.finish(r.ended(run_id, task, rows, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def server(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One page for all tests that only look."""
    with serving(repository, tmp_path_factory.mktemp("home")) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as the system installs it, for one file of tests: it keeps other event loops from running."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("there is no Chromium here; on Debian: apt-get install chromium")
    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def let_in(browser: Browser, server: Server) -> BrowserContext:
    """A browser that followed the link; it keeps what goes wrong and where requests went."""
    return enter(browser, server)


@pytest.fixture
def watched(let_in: BrowserContext) -> Iterator[Watched]:
    """A fresh page of the browser that was let in."""
    page = let_in.new_page()
    seen = Watched(page, [], [])
    page.on("console", lambda m: seen.faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: seen.faults.append(str(e)))
    page.on("request", lambda q: seen.asked.append(q.url))
    yield seen
    page.close()
