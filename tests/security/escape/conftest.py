"""Campaigns: every attack on every backend, once per session, as root and as an ordinary user."""

from __future__ import annotations

import encodings.ascii  # noqa: F401 - what is first used after the drop could not be read any more
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))

from sandbox_boxes import AN_ORDINARY_USER, BACKENDS, PYTHON, _walkable

from referee.adapters.sandbox.attacks import ATTACKS, Outcome, campaign

BOXES = ("userns-root", "userns-user", "bubblewrap-root", "bubblewrap-user")


@pytest.fixture(scope="session")
def outcomes() -> Callable[[str], Mapping[str, Outcome]]:
    """The outcomes of a box, by the attack's name."""
    known: dict[str, Mapping[str, Outcome]] = {}

    def of(box: str) -> Mapping[str, Outcome]:
        if box not in known:
            known[box] = {o.name: o for o in _campaign(box)}
        return known[box]

    return of


def _campaign(box: str) -> list[Outcome]:
    backend, _, who = box.partition("-")
    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    if backend == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    root = os.geteuid() == 0
    if who == "root" and not root:
        pytest.skip("needs root")
    if who == "user" and root:
        if not _walkable():
            pytest.skip("an ordinary user cannot read this checkout")
        return _as_somebody_else(backend)
    return _here(backend)


def _here(backend: str) -> list[Outcome]:
    sandbox = BACKENDS[backend]()
    try:
        return campaign(sandbox, ATTACKS.values(), PYTHON)
    finally:
        sandbox.close()


def _as_somebody_else(backend: str) -> list[Outcome]:
    """The whole campaign in a child process that has become an ordinary user for good."""
    ours, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _drop_and_send(backend, theirs)
    theirs.close()
    try:
        answer: Any = ours.recv()
    except EOFError:
        answer = RuntimeError("the campaign of the ordinary user died")
    os.waitpid(pid, 0)
    if isinstance(answer, BaseException):
        raise answer
    return [Outcome.model_validate(o) for o in answer]


def _drop_and_send(backend: str, wire: Connection) -> None:
    try:
        os.setgroups([])
        os.setresgid(AN_ORDINARY_USER, AN_ORDINARY_USER, AN_ORDINARY_USER)
        os.setresuid(AN_ORDINARY_USER, AN_ORDINARY_USER, AN_ORDINARY_USER)
        os.environ["HOME"] = "/tmp"
        wire.send([o.model_dump() for o in _here(backend)])
    except BaseException as e:
        wire.send(RuntimeError(repr(e)))
    finally:
        os._exit(0)
