"""The terminal of a conversation: line editing, history, Ctrl-C for a task and Ctrl-D for the end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from referee.cli.chat import HELP, Chat
from referee.domain.errors import UsageError

if TYPE_CHECKING:
    from referee.config import Config
    from referee.domain.report import Outcome

HISTORY = ".harness/history"


def converse(repo: str, config: Config) -> None:
    """Read lines until the person leaves. Raises `UsageError` where nobody can type."""
    if not sys.stdin.isatty():
        raise UsageError('there is no terminal for a conversation; give a task: referee agent "TASK"')
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory

    from referee.config import root_of

    path = os.path.join(root_of(repo), HISTORY)
    kept: History = FileHistory(path) if os.path.isdir(os.path.dirname(path)) else InMemoryHistory()
    session: PromptSession[str] = PromptSession(history=kept)
    chat = Chat(
        repo=repo, config=config, act=lambda text, settings: _act(repo, text, settings),
        resume=lambda run_id: _resume(repo, run_id), ask=input, say=print,
    )  # fmt: skip
    chat.say(HELP)
    while True:
        try:
            text = session.prompt("> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if not chat.line(text):
            return


def _act(repo: str, text: str, config: Config) -> Outcome:
    from referee import api
    from referee.cli.running import running
    from referee.domain.task import Task

    with running(quiet=False) as display:
        return api.agent(Task(repo=repo, text=text), config, display)


def _resume(repo: str, run_id: str) -> Outcome:
    from referee import api
    from referee.cli.running import running

    with running(quiet=False) as display:
        return api.resume(run_id, repo, progress=display)
