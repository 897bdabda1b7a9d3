"""What a provider's failure means: try again, or tell the user or the operator at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.domain.errors import RefereeError, UsageError, WorldFault

SHOWN_CHARS = 300
TRY_AGAIN = frozenset({408, 409, 425, 429})
NO_SCHEMA = frozenset({400, 422, 501})


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One failed try. `final` ends the call; otherwise it may be tried again after `retry_after` seconds."""

    text: str
    final: RefereeError | None = None
    retry_after: float | None = None
    refused_request: bool = False  # the server may lack a feature that the request used


def diagnose(error: Exception, model: str, secret: str | None) -> Fault:
    """The fault behind an exception of the model library. Raises nothing; no message holds `secret`."""
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelQuotaExceededError):
        text = f"{model}: the account's quota or credit is used up; top it up, or choose another model with --model"
        return Fault(text=text, final=WorldFault(text))
    if isinstance(error, theirs.ModelContextWindowExceededError):
        text = f"the prompt is longer than {model} can read; choose a model with a larger context with --model"
        return Fault(text=text, final=UsageError(text))
    if isinstance(error, theirs.ModelHTTPError):
        return _status(error.status_code, error.retry_after, _excerpt(error.body, secret), model)
    if isinstance(error, TimeoutError):
        return Fault(text="it fell silent in the middle of an answer")
    if isinstance(error, theirs.ModelAPIError | theirs.UnexpectedModelBehavior):
        return Fault(text=_excerpt(error.message, secret))
    if isinstance(error, theirs.UserError):
        text = f"{model} cannot be used: {_excerpt(error.message, secret)}"
        return Fault(text=text, final=UsageError(text))
    text = f"{model} failed in an unexpected way: {type(error).__name__}: {_excerpt(str(error), secret)}"
    return Fault(text=text, final=WorldFault(text))


def _status(status: int, retry_after: float | None, body: str, model: str) -> Fault:
    if status in (401, 403):
        # Bodies of these repeat part of the key.
        text = f"the provider refused the key for {model} (HTTP {status}); check the variable that api_key_env names"
        return Fault(text=text, final=UsageError(text))
    if status == 404:
        text = f"the provider knows no model {model} (HTTP 404); check --model and base_url"
        return Fault(text=text, final=UsageError(text))
    text = f"HTTP {status}: {body}" if body else f"HTTP {status}"
    if status in TRY_AGAIN or (status >= 500 and status != 501):
        return Fault(text=text, retry_after=retry_after)
    final = WorldFault(f"the provider rejected the request to {model}: {text}")
    return Fault(text=text, final=final, refused_request=status in NO_SCHEMA)


def _excerpt(content: object, secret: str | None) -> str:
    """Some of a message, on one line, without control characters or keys."""
    if isinstance(content, dict):
        content = content.get("message") or content.get("error") or content
    text = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", str(content or "")).strip()
    if secret:
        text = text.replace(secret, "[key]")
    text = re.sub(r"(?i)\b(sk|key|pk|ghp|xai|gsk)[-_][\w*.-]{8,}|bearer\s+\S+", "[key]", text)
    return text[:SHOWN_CHARS]
