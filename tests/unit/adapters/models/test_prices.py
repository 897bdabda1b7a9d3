"""List prices, stated prices, and the third state."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic_ai.usage import RequestUsage

from referee.adapters.models.prices import listed, stated
from referee.adapters.models.reply import buckets
from referee.domain.errors import UsageError


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "openai-chat:gpt-5-mini", "anthropic:claude-sonnet-4-5"])
def test_a_listed_model_has_a_price_with_its_source(name: str) -> None:
    price = listed(name)
    assert price is not None
    assert price.source.startswith("genai-prices ")
    assert 0 < price.cache_read < price.input <= price.cache_write
    assert price.output > price.input


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("local:foo", None),
        ("openai:nobody-knows", None),
        ("openai:gpt-5-mini", "http://127.0.0.1:8080/v1"),
        ("openai:gpt-5-mini", "http://models.example/v1"),
    ],
)
def test_unknown_is_none_and_never_zero(name: str, base_url: str | None) -> None:
    """Case C6: a name that sounds like a priced model proves nothing about a server of one's own."""
    assert listed(name, base_url) is None


def test_the_address_of_a_listed_provider_decides() -> None:
    assert listed("openai:deepseek-chat", "https://api.deepseek.com/v1") == listed("deepseek:deepseek-chat")


def test_a_stated_price_counts_cached_tokens_as_fresh() -> None:
    price = stated(" 0.25, 2")
    assert (price.input, price.output) == (Decimal("0.25"), Decimal(2))
    assert price.cache_read == price.cache_write == price.input
    assert stated("0,0").output == 0


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "1,inf", "1;2"])
def test_a_price_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"such as 0\.25,2"):
        stated(text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"input_tokens": 10_000, "cache_read_tokens": 9_000, "output_tokens": 100}, (1_000, 9_000, 0, 100, 0)),
        ({"input_tokens": 1_000, "cache_read_tokens": 9_000, "output_tokens": 100}, (1_000, 9_000, 0, 100, 0)),
        ({"input_tokens": 500, "cache_read_tokens": 300, "cache_write_tokens": 200}, (0, 300, 200, 0, 0)),
        ({"output_tokens": 50, "output_reasoning_tokens": 40}, (0, 0, 0, 50, 40)),
        ({"output_tokens": 10, "output_reasoning_tokens": 40}, (0, 0, 0, 50, 40)),
        ({"output_tokens": 50, "details": {"reasoning_tokens": 20}}, (0, 0, 0, 50, 20)),
    ],
)
def test_buckets_are_disjoint_under_either_convention(given: dict[str, object], expected: tuple[int, ...]) -> None:
    """Case C3: cached tokens inside the prompt or beside it, reasoning inside the output or beside it."""
    found = buckets(RequestUsage(**given))  # type: ignore[arg-type]
    assert (found.fresh_input, found.cache_read, found.cache_write, found.output, found.reasoning) == expected
