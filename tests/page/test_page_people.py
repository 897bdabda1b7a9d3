"""A person decides on the page: an approval to its landing, a signature that only a key can give, a real stop."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import small
from page_scene import MAIN, Server, enter, serving
from playwright.sync_api import Browser, Page

from referee.adapters.store import SqliteStore

PLANTED, SHOWN = b"planted-7f3a9c51d2", b"shown-to-all-41c7"
CURIOUS = small.TESTS.replace("== 5", f"== 5, '{SHOWN.decode()}' + str(dict(__import__('os').environ))")
Played = tuple[Path, Page, str]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment without settings of this machine's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REFEREE_", "XDG_", "GIT_"))}
    return {**kept, "HOME": str(tmp_path / "home"), "AWS_SECRET_ACCESS_KEY": PLANTED.decode()}


def recorded(repo: Path) -> bytes:
    """All that is kept of a repository's runs, also what is kept as base64."""
    store = SqliteStore(str(repo / ".harness"))
    kept = [e.payload.encode() for r in store.runs() for e in store.entries(r.run_id)]
    store.close()
    kept += [p.read_bytes() for p in (repo / ".harness").rglob("*") if p.is_file()]
    coded = [c for data in kept for c in re.findall(rb"[A-Za-z0-9+/]{40,}", data)]
    return b"\n".join([*kept, *(base64.b64decode(c[: len(c) // 4 * 4]) for c in coded)])


def referee(repo: Path, home: dict[str, str], *arguments: str) -> int:
    """One command, as a person types it."""
    command = [sys.executable, "-c", MAIN, *arguments, "--repo", str(repo)]
    return subprocess.run(command, env=home, capture_output=True, timeout=300, check=False).returncode


@pytest.fixture
def asked(tmp_path: Path, home: dict[str, str], browser: Browser, request: pytest.FixtureRequest) -> Iterator[Played]:
    """A repair that found the fix and waits for a person, the page about it, and its id."""
    repo = small.build(tmp_path / "repo", {"calc.py": small.BUGGY, "tests/test_calc.py": CURIOUS})
    (repo / "referee.toml").write_text(request.param)
    (tmp_path / "home").mkdir()
    model = small.script(tmp_path / "m.jsonl", small.proposal())
    code = referee(repo, home, "fix", "--target", small.TARGET, "--generator", "model", "--model", model)
    assert code == 4
    with serving(repo, tmp_path / "home") as server:
        page, run_id = _to_the_question(browser, server)
        yield repo, page, run_id
        page.context.close()


def _to_the_question(browser: Browser, server: Server) -> tuple[Page, str]:
    page = enter(browser, server).new_page()
    page.goto(server.base)
    assert page.get_by_label("1 waiting").is_visible()
    page.get_by_role("link", name="Questions").click()
    question = page.get_by_role("listitem").filter(has_text="open")
    run_id = question.get_by_role("link").last.inner_text()
    question.get_by_role("link").first.click()
    assert page.locator("ins").inner_text() == "    return a + b"
    return page, run_id


@pytest.mark.slow
@pytest.mark.parametrize("asked", ['ask_before_landing = "approval"\n'], indirect=True)
def test_an_approval_on_the_page_lands_the_change(asked: Played, home: dict[str, str]) -> None:
    """And what the person's own environment holds never got into the record, though a test printed all it saw."""
    repo, page, run_id = asked
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("answered", exact=True).wait_for()
    assert (repo / "calc.py").read_text() == small.BUGGY
    assert referee(repo, home, "resume", run_id) == 0
    assert (repo / "calc.py").read_text() == small.FIXED
    kept = recorded(repo)
    assert SHOWN in kept, "the control: what the test tells is in the record"
    assert PLANTED not in kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", ['ask_before_landing = "signature"\n[signing]\nrequire = "ssh"\n'], indirect=True, ids=["ssh"]
)
def test_a_click_is_no_signature_where_an_ssh_key_is_demanded(asked: Played, home: dict[str, str]) -> None:
    repo, page, run_id = asked
    assert page.get_by_role("button", name="Sign").count() == 0
    assert page.get_by_role("button", name="Approve").count() == 0
    assert page.locator("code", has_text="--ssh-key FILE").is_visible()
    token, digest = (page.locator(f"input[name={n}]").first.input_value() for n in ("form_token", "digest"))
    forged = page.request.post(
        f"{page.url}/answer",
        form={"form_token": token, "digest": digest, "how": "sign"},
        headers={"origin": page.url.partition("/questions")[0]},
    )
    assert forged.status == 400 and "takes an SSH key" in forged.text()
    assert referee(repo, home, "resume", run_id) == 4
    assert (repo / "calc.py").read_text() == small.BUGGY


@pytest.mark.slow
def test_the_stop_button_stops_a_real_run_and_it_can_be_resumed(
    tmp_path: Path, home: dict[str, str], browser: Browser
) -> None:
    tests = small.TESTS + "\n\ndef test_slow():\n    import time\n    time.sleep(600)\n"
    repo = small.build(tmp_path / "repo", {"calc.py": small.BUGGY, "tests/test_calc.py": tests})
    (tmp_path / "home").mkdir()
    command = [sys.executable, "-c", MAIN, "fix", "--repo", str(repo), "--timeout", "900", "--generator", "search"]
    with serving(repo, tmp_path / "home") as server:
        process = subprocess.Popen(command, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        page = enter(browser, server).new_page()
        page.goto(server.base)
        page.get_by_text("running", exact=True).first.wait_for()  # it appears by itself
        page.get_by_role("row").filter(has_text="running").get_by_role("link").click()
        page.get_by_role("button", name="Stop this run").click()
        begun = time.monotonic()
        out, err = process.communicate(timeout=120)
        assert process.returncode == 130, (out, err)
        print(f"stopped after {time.monotonic() - begun:.1f} s")
        page.get_by_text("referee resume").wait_for()
        page.context.close()
    assert (repo / "calc.py").read_text() == small.BUGGY
