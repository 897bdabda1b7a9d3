"""Any hosted model, and any server that speaks the OpenAI format, through pydantic-ai's direct API."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from referee.adapters.models import prices
from referee.adapters.models.deadline import Overdue, call_within
from referee.adapters.models.faults import Fault, diagnose
from referee.adapters.models.reply import reply_of
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value
from referee.ports import ModelReply, ModelRequest, Price

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

OPENAI_FORMAT = frozenset({"openai", "openai-chat", "openai-compatible", "local"})


class Endpoint(Value):
    """Where and how to reach a model. Everything is optional: a hosted provider knows its own address.

    With `stream` the answer is read as it is written, and a silence of `idle_seconds` between two pieces is a
    failed try rather than a wait until the deadline.
    """

    base_url: str | None = None
    api_key: SecretStr | None = None
    price: Price | None = None
    stream: bool = False
    idle_seconds: float = 60.0
    backoff_seconds: float = 0.5
    max_tries: int = 6


class ProviderModel:
    """`provider:name`, such as `openai:gpt-5-mini`; with a `base_url`, `openai:` means any compatible server."""

    def __init__(
        self, name: str, endpoint: Endpoint | None = None, chance: Callable[[], float] = random.random
    ) -> None:
        """Nothing is imported or opened yet. Raises `UsageError` if `name` or the address has the wrong form."""
        provider, _, model = name.partition(":")
        if not provider or not model:
            raise UsageError(f"--model takes PROVIDER:NAME, such as openai:gpt-5-mini (got {name!r})")
        self._name, self._provider, self._model = name, provider, model
        self._endpoint, self._chance = endpoint or Endpoint(), chance
        url = self._endpoint.base_url
        if url is not None and not url.startswith(("http://", "https://")):
            raise UsageError(f"base_url must begin with http:// or https:// (got {url!r})")
        self._no_schema = False  # the server turned a schema down; it is asked in words from then on

    @property
    def name(self) -> str:
        """The full name, as the user gave it."""
        return self._name

    def price(self) -> Price | None:
        """The stated price, else the list price, else None."""
        return self._endpoint.price or prices.listed(self._name, self._endpoint.base_url)

    def call(self, request: ModelRequest) -> ModelReply:
        """Ask, trying again what may pass, until `timeout_seconds` are over.

        Raises `UsageError` for a wrong key, name or set-up, and `WorldFault` for everything that is the provider's.
        """
        model, faults = self._open(), list[Fault]()
        deadline = time.monotonic() + request.timeout_seconds
        try:
            return call_within(request.timeout_seconds, lambda: self._persist(model, request, deadline, faults))
        except Overdue:
            raise WorldFault(
                f"{self._name} gave no answer within {request.timeout_seconds:.0f} s{_so_far(faults)}"
            ) from None

    async def _persist(self, model: Model, request: ModelRequest, deadline: float, faults: list[Fault]) -> ModelReply:
        """Try until there is a reply, a final fault, or no time for another try."""
        async with model:
            while True:
                try:
                    response = await self._ask(model, request, deadline - time.monotonic())
                    return reply_of(response, request, self._name, len(faults) + 1)
                except Exception as e:  # every failure is diagnosed; an unknown one is a WorldFault with its type
                    fault = diagnose(e, self._name, self._secret)
                await self._pause(fault, deadline, faults)

    async def _pause(self, fault: Fault, deadline: float, faults: list[Fault]) -> None:
        """Wait before the next try, or raise if there should be none."""
        faults.append(fault)
        if fault.refused_request and not self._no_schema:
            self._no_schema = True
            return
        if fault.final is not None:
            raise fault.final
        if len(faults) >= self._endpoint.max_tries:
            raise WorldFault(f"{self._name} failed {len(faults)} times{_so_far(faults)}")
        wait = self._endpoint.backoff_seconds * 2 ** (len(faults) - 1) * (0.5 + self._chance())
        wait = max(wait, fault.retry_after or 0.0)
        left = deadline - time.monotonic()
        if wait >= left:
            raise WorldFault(f"{self._name} cannot be asked again in the {max(0, left):.0f} s left{_so_far(faults)}")
        await asyncio.sleep(wait)

    async def _ask(self, model: Model, request: ModelRequest, left: float) -> ModelResponse:
        from pydantic_ai.direct import model_request, model_request_stream

        settings = self._settings(model, request, left)
        messages, parameters = _messages(request), self._parameters(model, request)
        if not self._endpoint.stream:
            return await model_request(model, messages, model_settings=settings, model_request_parameters=parameters)
        async with model_request_stream(
            model, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            pieces = aiter(stream)
            while True:
                try:
                    await asyncio.wait_for(anext(pieces), self._endpoint.idle_seconds)
                except StopAsyncIteration:
                    return stream.get()

    def _settings(self, model: Model, request: ModelRequest, left: float) -> ModelSettings:
        wanted: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "timeout": max(0.1, left),
            "max_retries": 0,  # one place retries, and it knows the deadline
            **self._cached(request),
        }
        return cast("ModelSettings", {k: v for k, v in wanted.items() if k not in model.unsupported_settings})

    def _cached(self, request: ModelRequest) -> dict[str, Any]:
        """What marks the static prefix for the provider's cache; most find it by themselves."""
        if self._provider == "anthropic":
            # The whole conversation of a tool loop comes again with every call.
            looping = {"anthropic_cache_messages": True} if request.tools else {}
            return {"anthropic_cache_instructions": True, **looping}
        if self._provider in OPENAI_FORMAT and not self._endpoint.base_url:  # other servers may not know the name
            return {"openai_prompt_cache_key": f"referee-{request.role}"}
        return {}

    def _parameters(self, model: Model, request: ModelRequest) -> ModelRequestParameters:
        """The tools, and the reply's schema by the provider's own mechanism, unless that has been turned down."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        if request.tools:
            tools = [
                ToolDefinition(name=t.name, description=t.description, parameters_json_schema=dict(t.parameters))
                for t in request.tools
            ]
            return ModelRequestParameters(function_tools=tools)
        native = model.profile.get("supports_json_schema_output", False) and not self._no_schema
        if request.reply_schema is None or not native:
            return ModelRequestParameters()
        wanted = OutputObjectDefinition(json_schema=dict(request.reply_schema), name=request.reply_name)
        return ModelRequestParameters(output_mode="native", output_object=wanted)

    @property
    def _secret(self) -> str | None:
        key = self._endpoint.api_key
        return key.get_secret_value() if key is not None else None

    def _open(self) -> Model:
        """The library's model. Raises `UsageError` if it cannot be made: not installed, unknown, or without a key."""
        try:
            from pydantic_ai import exceptions, models
        except ImportError:
            raise UsageError("hosted models need an extra: pip install 'referee[models]'") from None
        try:
            if self._endpoint.base_url and self._provider in OPENAI_FORMAT:
                return self._compatible()
            return models.infer_model(f"{self._provider}:{self._model}", self._connect)
        except ImportError as e:
            raise UsageError(
                f"{self._name} needs an extra: pip install 'referee[models]' ({e.name} is missing)"
            ) from None
        except (exceptions.UserError, ValueError, TypeError) as e:
            raise UsageError(f"{self._name} cannot be used: {e}") from None

    def _compatible(self) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        # Other servers than OpenAI's own know `max_tokens`; some ignore the newer name, and with it the limit.
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider(
            "openai-compatible", base_url=self._endpoint.base_url or "", api_key=self._secret, profile=profile
        )
        return OpenAIChatModel(self._model, provider=provider)

    def _connect(self, provider: str) -> Any:
        from pydantic_ai.providers import infer_provider_class

        given = {"base_url": self._endpoint.base_url, "api_key": self._secret}
        return infer_provider_class(provider)(**{k: v for k, v in given.items() if v is not None})


def _messages(request: ModelRequest) -> list[ModelMessage]:
    """The static prefix as instructions, first; then the conversation. Results of parallel calls go in one message."""
    from pydantic_ai import messages as theirs

    out: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            said = [theirs.TextPart(message.content)] if message.content else []
            calls = [theirs.ToolCallPart(c.name, c.arguments, c.id) for c in message.calls]
            out.append(theirs.ModelResponse(parts=[*said, *calls]))
            continue
        if message.role == "user":
            part: theirs.ModelRequestPart = theirs.UserPromptPart(message.content)
        else:
            part = theirs.ToolReturnPart(message.tool, message.content, message.call_id)
        last = out[-1] if out else None
        if isinstance(last, theirs.ModelRequest):
            last.parts = [*last.parts, part]
        else:
            out.append(theirs.ModelRequest(parts=[part], instructions=request.system))
    return out


def _so_far(faults: list[Fault]) -> str:
    return f" ({len(faults)} tries failed; the last: {faults[-1].text})" if faults else ""
