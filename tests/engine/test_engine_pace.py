"""All workers together call a provider as often as they may, and no oftener."""

from __future__ import annotations

import time

import pytest

from referee.adapters.engine.pace import Pace
from referee.adapters.models.paced import PacedModel
from referee.config import Config, Models
from referee.domain.errors import UsageError, WorldFault
from referee.ports import ModelReply, ModelRequest
from referee.testing.clock import FakeClock
from referee.wiring.models import open_model


class Heard:
    """A model that tells what it was asked."""

    name = "openai:any"

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    def price(self) -> None:
        return None

    def call(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        return ModelReply(content="yes")


def request(seconds: float) -> ModelRequest:
    return ModelRequest(role="agent", system="", messages=(), timeout_seconds=seconds)


def test_two_workers_share_one_pace_and_providers_do_not(journals: str) -> None:
    left, right, other = (Pace(journals, name, 6) for name in ("openai", "openai", "anthropic"))
    began = time.monotonic()
    waits = [pace.reserve() for pace in (left, right, left, right)]
    took = time.monotonic() - began
    for number, wait in enumerate(waits):
        assert 10 * number - took - 0.1 <= wait <= 10 * number
    assert other.reserve() == 0
    for pace in (left, right, other):
        pace.close()


def test_a_call_waits_for_its_turn_and_has_less_time_then() -> None:
    model, clock = Heard(), FakeClock()
    began = clock.monotonic()
    assert PacedModel(model, lambda: 7.0, clock).call(request(20)).content == "yes"
    assert clock.monotonic() - began == 7
    assert model.asked[0].timeout_seconds == 13
    with pytest.raises(WorldFault, match="may be called in 30 s only"):
        PacedModel(model, lambda: 30.0, clock).call(request(20))
    assert len(model.asked) == 1


def test_a_limit_without_a_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFEREE_DATABASE", raising=False)
    config = Config(models=Models(per_minute=("openai=60",)))
    with pytest.raises(UsageError, match="set REFEREE_DATABASE"):
        open_model("openai:any", config)
    open_model("anthropic:any", config)
    with pytest.raises(ValueError, match="openai=60"):
        Models(per_minute=("sixty",))
