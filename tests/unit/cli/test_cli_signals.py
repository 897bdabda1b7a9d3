"""Ctrl-C and SIGTERM, once and more than once, against a real process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from referee.cli.signals import cancellable
from referee.domain.errors import Cancelled

WAITING = """
import sys, time
from referee.cli.signals import cancellable
from referee.domain.errors import Cancelled
with cancellable():
    try:
        print("ready", flush=True)
        time.sleep(30)
    except Cancelled:
        print("cancelled", flush=True)
        for line in sys.stdin:  # cleaning up takes as long as the test likes
            break
        print("cleaned up", flush=True)
        sys.exit(130)
"""


def start() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_cancels(number: signal.Signals) -> None:
    process = start()
    process.send_signal(number)
    out, _ = process.communicate("go\n", timeout=20)
    assert out == "cancelled\ncleaned up\n" and process.returncode == 130


def test_the_second_does_not_interrupt_the_clean_up() -> None:
    process = start()
    assert process.stdout is not None and process.stderr is not None
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "cancelled\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "\n" and "left half written" in process.stderr.readline()
    out, _ = process.communicate("go\n", timeout=20)
    assert out == "cleaned up\n" and process.returncode == 130


def test_the_third_leaves_at_once() -> None:
    process = start()
    assert process.stdout is not None and process.stderr is not None
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "cancelled\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 130
    out, _ = process.communicate()
    assert "cleaned up" not in out


def test_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(Cancelled), cancellable():
        signal.raise_signal(signal.SIGTERM)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
