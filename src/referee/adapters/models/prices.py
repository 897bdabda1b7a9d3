"""What a model costs, from a published list or as the user states it. Unknown is a state of its own (A2, C6)."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from referee.domain.errors import UsageError
from referee.ports import Price

# Some lists ask more for long prompts. Prompts here stay below this many tokens, so dearer tiers never apply.
LONGEST_PROMPT = 100_000

# Our providers' names, where the price list has another.
_LISTED_AS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "google-gla": "google",
    "google-vertex": "google",
    "google-cloud": "google",
    "bedrock": "aws",
    "xai": "x-ai",
    "grok": "x-ai",
}


def listed(name: str, base_url: str | None = None) -> Price | None:
    """The list price of `provider:model`; None if the list does not have it.

    With `base_url` the server decides about the price, not the model's name: a server that the list does not know
    has no known price, and a local one is no exception.
    """
    import genai_prices  # 0.1 s that only runs with a model pay

    provider, _, model = name.partition(":")
    nothing = genai_prices.Usage(input_tokens=0, output_tokens=0)
    try:
        if base_url:
            found = genai_prices.calc_price(nothing, model, provider_api_url=base_url).model_price
        else:
            listed_as = _LISTED_AS.get(provider, provider)
            found = genai_prices.calc_price(nothing, model, provider_id=listed_as).model_price
    except (LookupError, ValueError):
        return None
    fresh, out = _rate(found, "input_mtok"), _rate(found, "output_mtok")
    if fresh is None or out is None:
        return None
    read, write = _rate(found, "cache_read_mtok"), _rate(found, "cache_write_mtok")
    return Price(
        input=fresh,
        output=out,
        cache_read=fresh if read is None else read,
        cache_write=fresh if write is None else write,
        source=f"genai-prices {genai_prices.__version__}",
    )


def stated(text: str) -> Price:
    """A price from `INPUT,OUTPUT` in US dollars per million tokens; cached tokens count as fresh ones.

    Raises `UsageError` if `text` is something else.
    """
    parts = text.split(",")
    try:
        fresh, out = (Decimal(p.strip()) for p in parts)
        if not (fresh.is_finite() and out.is_finite() and fresh >= 0 and out >= 0):
            raise ValueError
    except (InvalidOperation, ValueError):
        raise UsageError(
            f"--price takes INPUT,OUTPUT in US dollars per million tokens, such as 0.25,2 (got {text!r})"
        ) from None
    return Price(input=fresh, output=out, cache_read=fresh, cache_write=fresh, source="stated by the user")


def _rate(prices: Any, key: str) -> Decimal | None:
    """One rate of the list; of a tiered one the dearest tier that a prompt of ours can reach."""
    rate = getattr(prices, key, None)
    if rate is None:
        return None
    if hasattr(rate, "tiers"):
        reachable = [rate.base, *(t.price for t in rate.tiers if t.start < LONGEST_PROMPT)]
        return max(Decimal(str(r)) for r in reachable)
    return Decimal(str(rate))
