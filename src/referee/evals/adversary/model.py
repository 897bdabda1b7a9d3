"""The adversary as a model: everything that models pass through, it passes through."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from referee.domain.errors import UsageError
from referee.evals.adversary.kinds import NAME, Kind, Plan, kind_of
from referee.evals.adversary.payloads import reply
from referee.ports import Model, ModelReply, ModelRequest, Price, Usage

_FREE = Price(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0), source="simulated")
_BYTES_PER_TOKEN = 4


def read_plan(path: str) -> Plan:
    """The plan in a JSON file. Raises `UsageError` with what is wrong."""
    try:
        return Plan.model_validate_json(Path(path).read_bytes())
    except OSError as wrong:
        raise UsageError(f"cannot read {path}: {wrong.strerror}") from None
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        raise UsageError(f"{path}: {'.'.join(str(p) for p in first['loc'])}: {first['msg']}") from None


class AdversaryModel:
    """Answers by its plan; where it plays fair it hands over to `inner`, if it wraps a model.

    A reply's `model` says which kind it is, so that what was done can be compared with what was noticed.
    """

    def __init__(self, plan: Plan, inner: Model | None = None) -> None:
        self._plan, self._inner = plan, inner

    @property
    def name(self) -> str:
        """`adversary`, and what it wraps."""
        return f"{NAME}:{self._inner.name}" if self._inner else NAME

    def price(self) -> Price | None:
        """That of the wrapped model; nothing without one."""
        return self._inner.price() if self._inner else _FREE

    def call(self, request: ModelRequest) -> ModelReply:
        """One reply; its tokens are an estimate from its length."""
        kind, variant = kind_of(self._plan, request.role, request.ordinal)
        if kind is Kind.FIX and self._inner is not None:
            said = self._inner.call(request)
            return said.model_copy(update={"model": f"{NAME}:{Kind.FIX}"})
        text = reply(self._plan, kind, variant)
        asked = len(request.system) + sum(len(m.content) for m in request.messages)
        usage = Usage(fresh_input=asked // _BYTES_PER_TOKEN, output=len(json.dumps(text)) // _BYTES_PER_TOKEN)
        return ModelReply(content=text, usage=usage, model=f"{NAME}:{kind}", cost_usd=Decimal(0))
