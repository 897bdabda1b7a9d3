"""Record a model's replies, and replay them: output differs from run to run, a recording does not."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from decimal import Decimal
from pathlib import Path
from typing import Literal

from referee.adapters.models.scripted import read_lines
from referee.domain.errors import UsageError, WorldFault
from referee.domain.redaction import Redaction
from referee.domain.value import Value
from referee.ports import Model, ModelReply, ModelRequest, Price

NOTHING = Price(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0), source="recorded")


class Recorded(Value):
    """One line of a recording: which request, and what was answered at which price."""

    format: Literal["referee.recording/1"] = "referee.recording/1"
    request: str
    role: str
    model: str
    price: Price | None = None
    reply: ModelReply


def request_digest(request: ModelRequest) -> str:
    """The identity of a request: all that decides the answer, so not how long one would have waited for it."""
    document = request.model_dump(mode="json", exclude={"timeout_seconds"})
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


class RecordingModel:
    """Another model, with every reply appended to a file before it is returned, without what `redaction` hides."""

    def __init__(self, inner: Model, path: str, redaction: Redaction | None = None) -> None:
        self._inner, self._path, self._lock = inner, path, threading.Lock()
        self._redaction = redaction or Redaction()

    @property
    def name(self) -> str:
        """The recorded model's."""
        return self._inner.name

    def price(self) -> Price | None:
        """The recorded model's."""
        return self._inner.price()

    def call(self, request: ModelRequest) -> ModelReply:
        """Ask, record, answer. Raises `WorldFault` if the recording cannot be written."""
        reply, price = self._inner.call(request), self._inner.price()
        if reply.cost_usd is None and price is not None:
            reply = reply.model_copy(update={"cost_usd": price.of(reply.usage)})
        line = Recorded(request=request_digest(request), role=request.role, model=self.name, price=price, reply=reply)
        try:
            with self._lock, Path(self._path).open("a", encoding="utf-8") as file:
                file.write(self._redaction.document(line.model_dump_json()) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as e:
            raise WorldFault(f"cannot write the recording {self._path}: {e.strerror}") from None
        return reply


class RecordedModel:
    """Answers exactly the requests of a recording."""

    def __init__(self, path: str) -> None:
        """Read the recording at once. Raises `UsageError` naming the line that is wrong."""
        self._path = path
        lines = read_lines(path, Recorded)
        self._replies = {line.request: line.reply for line in lines}
        prices = [line.price for line in lines if line.price is not None]
        self._price = _dearest(prices) if prices else NOTHING

    @property
    def name(self) -> str:
        """`recorded:` and the file."""
        return f"recorded:{self._path}"

    def price(self) -> Price:
        """The dearest price in the recording, so that what was refused then is refused again."""
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        """The recorded reply. Raises `UsageError` if this very request was never recorded."""
        digest = request_digest(request)
        reply = self._replies.get(digest)
        if reply is None:
            raise UsageError(
                f"{self._path} has no reply to this {request.role} request ({digest[:12]}): the task, the code or "
                f"the prompt differs; record again with --model PROVIDER:NAME --record {self._path}"
            )
        return reply


def _dearest(prices: list[Price]) -> Price:
    return Price(
        input=max(p.input for p in prices),
        output=max(p.output for p in prices),
        cache_read=max(p.cache_read for p in prices),
        cache_write=max(p.cache_write for p in prices),
        source=prices[0].source,
    )
