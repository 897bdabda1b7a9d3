"""Ask a model, and never for more than the budget can bear at worst (A2)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import ClassVar

from referee.domain.cost import Cost
from referee.domain.errors import UsageError
from referee.kernel.action import Action, Effect
from referee.ports import ModelReply, ModelRequest, Price, World

BYTES_PER_TOKEN = 3  # source code has three to four bytes to a token; fewer means a dearer estimate
OVERHEAD_TOKENS = 64  # a chat format's own tokens, per message


class CallModel(Action[ModelReply]):
    """One request to a model. The reply as recorded always has its cost, so that a replay needs no price list."""

    name: ClassVar[str] = "call_model"
    effect: ClassVar[Effect] = Effect.SPEND
    result_type: ClassVar[type] = ModelReply

    model: str
    request: ModelRequest

    def perform(self, world: World) -> ModelReply:
        """Ask, for no longer than the run has left. Raises `WorldFault` for the provider's faults."""
        model = world.model(self.model)
        left = max(0.1, world.seconds_left())
        seconds = min(self.request.timeout_seconds, left)
        reply = model.call(self.request.model_copy(update={"timeout_seconds": seconds}))
        if reply.cost_usd is not None:
            return reply
        return reply.model_copy(update={"cost_usd": _known(self.model, model.price()).of(reply.usage)})

    def estimate(self, world: World) -> Cost:
        """The worst case: all input fresh and written to the cache, all of `max_tokens` used.

        Raises `UsageError` if the price is unknown: nothing that cannot be accounted for is sent.
        """
        price = _known(self.model, world.model(self.model).price())
        tokens = input_tokens(self.request)
        output = self.request.max_tokens
        at_worst = max(price.input, price.cache_write) * tokens + price.output * output
        return Cost(tokens=tokens + output, usd=at_worst / 1_000_000)

    def cost(self, result: ModelReply) -> Cost:
        """What the reply used."""
        return Cost(tokens=result.usage.total, usd=result.cost_usd or Decimal(0))


def input_tokens(request: ModelRequest) -> int:
    """An upper estimate of a request's input tokens, from its bytes."""
    texts = [request.system, *(m.content for m in request.messages)]
    texts += [f"{c.name}{c.arguments}" for m in request.messages for c in m.calls]
    texts += [json.dumps(t.model_dump(mode="json")) for t in request.tools]
    if request.reply_schema is not None:
        texts.append(json.dumps(request.reply_schema))
    return sum(len(t.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN + OVERHEAD_TOKENS for t in texts)


def _known(model: str, price: Price | None) -> Price:
    if price is None:
        raise UsageError(
            f"the price of {model} is unknown, and unknown is not free; "
            "give it in US dollars per million tokens with --price INPUT,OUTPUT (--price 0,0 for a local model)"
        )
    return price
