"""What the tests of the page have in common: a started page, a browser's page, and names of runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page

MAIN = "import sys; from referee.cli import main; sys.exit(main())"
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
LIVE, SOLVED, FAILED, HOSTILE, LONG, LONGEST = "live", "solved", "failed", "hostile", "long", "longest"


@dataclass
class Server:
    """A started `referee ui`."""

    link: str
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        return self.link.partition("/open")[0]


@contextmanager
def serving(repository: Path, home: Path) -> Iterator[Server]:
    """`referee ui` on a free port."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REFEREE_", "XDG_", "GIT_"))}
    command = [sys.executable, "-c", MAIN, "ui", "--no-open", "--repo", str(repository)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**kept, "HOME": str(home)})
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip(), process)
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout:
            process.stdout.close()


@dataclass
class Watched:
    """A page, what its console complained of, and every address it asked for."""

    page: Page
    faults: list[str]
    asked: list[str]


def enter(browser: Browser, server: Server, **options: object) -> BrowserContext:
    """Follow the link, once."""
    context = browser.new_context(**options)
    context.set_default_timeout(90_000)  # other tests may have the machine
    page = context.new_page()
    page.goto(server.link)
    page.close()
    return context
