"""The deadline holds from outside, whatever the call does inside (case C21)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pydantic import SecretStr

from referee.adapters.models.deadline import Overdue, call_within
from referee.adapters.models.faults import diagnose
from referee.adapters.models.provider import Endpoint
from referee.domain.errors import WorldFault


async def _answer() -> int:
    await asyncio.sleep(0)
    return 7


async def _fail() -> int:
    raise LookupError("inside")


def test_results_and_failures_come_through() -> None:
    assert call_within(5.0, _answer) == 7
    with pytest.raises(LookupError, match="inside"):
        call_within(5.0, _fail)


def test_a_slow_call_is_cancelled_and_may_tidy_up() -> None:
    tidied = threading.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            tidied.set()

    began = time.monotonic()
    with pytest.raises(Overdue):
        call_within(0.1, slow)
    assert time.monotonic() - began < 10.0
    assert tidied.is_set()
    assert not [t for t in threading.enumerate() if t.name == "model call"]


def _blocking(release: threading.Event) -> Callable[[], Coroutine[Any, Any, None]]:
    async def blocks() -> None:
        release.wait(60)  # never yields to its loop, so it cannot be cancelled

    return blocks


async def _stubborn() -> None:
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


def test_a_call_that_cannot_be_cancelled_is_left_behind() -> None:
    release = threading.Event()
    for work in (_blocking(release), _stubborn):
        began = time.monotonic()
        with pytest.raises(Overdue):
            call_within(0.1, work)
        assert time.monotonic() - began < 10.0
    release.set()
    for thread in threading.enumerate():
        if thread.name == "model call":
            thread.join(5)


def test_keys_are_in_no_text_about_an_endpoint_or_a_fault() -> None:
    endpoint = Endpoint(api_key=SecretStr("sk-secret-123456789"))
    assert "secret-1" not in repr(endpoint) + str(endpoint) + endpoint.model_dump_json()
    fault = diagnose(RuntimeError("header Bearer abc.def and plainkey99 sent"), "t:one", "plainkey99")
    assert isinstance(fault.final, WorldFault)
    assert "abc.def" not in fault.text
    assert "plainkey99" not in fault.text
    assert "RuntimeError" in fault.text
