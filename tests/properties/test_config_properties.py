"""Whatever a configuration file holds: settings or a sentence, and a repository never loosens."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.config.files import Source
from referee.config.keys import KEYS, checked
from referee.config.load import Layers
from referee.domain.errors import UsageError

SCALARS = st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=8), v, max_size=3)
)
NAMES = st.sampled_from([*KEYS, "budget", "models", "check", "zzz"]) | st.text(max_size=8)


@given(st.dictionaries(NAMES, ANYTHING, max_size=4))
def test_a_file_gives_settings_or_a_sentence(table: dict[str, Any]) -> None:
    layers = Layers()
    try:
        layers.repository(Source(path="referee.toml", text="", table=table))
        layers.config()
    except UsageError as refused:
        assert str(refused).startswith("referee.toml")


@given(st.sampled_from([k for k in KEYS.values() if k.env]), st.text(max_size=30))
def test_a_variable_gives_a_value_or_a_sentence(key: Any, text: str) -> None:
    try:
        value = checked(key, text, key.env, strict=False)
    except UsageError as refused:
        assert str(refused).startswith(key.env)
    else:
        assert not (isinstance(value, float) and not math.isfinite(value))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_no_limit_is_infinite(key: Any) -> None:
    for word in ("inf", "-Infinity", "nan"):
        with contextlib.suppress(UsageError):
            assert not isinstance(checked(key, word, "x", strict=False), float)


@given(
    st.sampled_from(["max_steps", "max_tokens", "timeout", "max_cost_usd"]),
    st.integers(1, 10_000),
    st.integers(1, 10_000),
)
def test_a_repository_never_exceeds_the_user_s_budget(name: str, allowed: int, asked: int) -> None:
    layers = Layers()
    layers.user(Source(path="user", text="", table={"budget": {name: allowed}}))
    layers.repository(Source(path="repo", text="", table={"budget": {name: asked}}))
    config = layers.config()
    assert getattr(config.budget, name) == min(allowed, asked)
    assert bool(config.notes) == (asked > allowed)
