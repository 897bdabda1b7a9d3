"""Progress on stderr: a live picture on a terminal; in a pipe only what is loud, and one line at the end."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from referee.cli.view import View, fold, picture
from referee.domain.report import Report
from referee.render.plain import line
from referee.render.words import headline

REFRESHES_PER_SECOND = 8


def console() -> Console:
    """Standard error; colours and width as the terminal has them (NO_COLOR is respected)."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


class Display:
    """Consumes progress events, from any thread. Use it as a context manager: leaving restores the terminal."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console, self._quiet = console, quiet
        self._lock = threading.Lock()
        self._view, self._since = View(), console.get_time()
        self._live = Live(
            console=console,
            get_renderable=self._picture,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
        )

    def __enter__(self) -> Self:
        if self._on_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, event: str, facts: Mapping[str, Any]) -> None:
        """Take in one event (`ports.Progress`)."""
        with self._lock:
            self._view, self._since = fold(self._view, event, facts), self._console.get_time()
        if event == "note":
            self.note(str(facts.get("text", "")))

    def note(self, text: str) -> None:
        """Something a person should know: shown even when quiet."""
        self._console.print(Text(f"note: {line(text)}", "yellow"), soft_wrap=True)

    def summary(self, report: Report) -> None:
        """The one final line of a pipe; a terminal shows the result itself."""
        if not self._on_terminal and not self._quiet:
            self._console.print(Text(line(headline(report))), soft_wrap=True)

    @property
    def _on_terminal(self) -> bool:
        return self._console.is_terminal and not self._console.is_dumb_terminal and not self._quiet

    def _picture(self) -> RenderableType:
        with self._lock:
            view, since = self._view, self._since
        return picture(view, self._console.get_time() - since, self._console.width)
