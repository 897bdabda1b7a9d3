"""The settings of a run as frozen values, each with the place it came from (case C17)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from referee.config.judging import CheckSetting, IgnoreSetting, JudgeLimits, Pattern
from referee.config.people import Before, OutsideTools, Signing
from referee.config.reach import Reach
from referee.domain.cost import Budget
from referee.domain.parts import Parts
from referee.domain.permission import PRESETS, Rule
from referee.domain.preset import PresetName
from referee.domain.protection import Protection
from referee.domain.report import Setting
from referee.domain.value import Value

_BRANCH = re.compile(r"branch:[A-Za-z0-9][A-Za-z0-9._/-]*")
DEFAULT = "default"


class IsolationMode(StrEnum):
    """How much isolation a run insists on, from lax to strict."""

    DEGRADED = "degraded"  # anything, loudly
    AUTO = "auto"  # full isolation if the probes pass, else refuse and say why
    REQUIRED = "required"  # the same, and nothing in a repository can weaken it

    @property
    def rank(self) -> int:
        """A higher rank is stricter."""
        return list(IsolationMode).index(self)


def _land(text: str) -> str:
    branch = bool(_BRANCH.fullmatch(text)) and ".." not in text and not text.endswith((".lock", "/", "."))
    if text in ("tree", "commit", "pr", "none") or branch or (text.startswith("patch:") and len(text) > 6):
        return text
    raise ValueError("use tree, commit, branch:NAME, patch:FILE, pr or none")


def _generator(text: str) -> str:
    if text in ("auto", "search", "model", "agent") or (text.startswith("command:") and text[8:].strip()):
        return text
    raise ValueError("use auto, search, model, agent or command:ARGV")


def _model(text: str) -> str:
    provider, _, name = text.partition(":")
    if text and not (provider.strip() and name.strip() and text.isprintable()):
        raise ValueError("name a model as PROVIDER:NAME, for example openai:gpt-5-mini")
    return text


def _url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError("give an address that starts with http:// or https://")
    if parts.username or parts.password:
        raise ValueError("an address must not hold a password; name the key's variable with api_key_env")
    return text


def _variable(text: str) -> str:
    if text and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ValueError("give the name of an environment variable, not the key itself")
    return text


def _pair(given: Any) -> Any:
    """Prices as text "in,out" or as a list, made exact."""
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list | tuple):
        return parts
    try:
        return tuple(Decimal(str(p).strip()) for p in parts)
    except InvalidOperation:
        raise ValueError("give two numbers: IN,OUT") from None


def _pace(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]*=[1-9][0-9]{0,5}", text):
        raise ValueError("give PROVIDER=CALLS, for example openai=60")
    return text


ModelName = Annotated[str, AfterValidator(_model)]
Dollars = Annotated[Decimal, Field(ge=0)]
PricePair = Annotated[tuple[Dollars, Dollars] | None, BeforeValidator(_pair)]


class Models(Value):
    """Which model plays which role; an empty name means the default, an empty default means none.

    `price` is US dollars per million input and output tokens, for models no price list knows.
    `api_key_env` names the environment variable that holds the key; the key itself is never here.
    `per_minute` limits the calls to a provider, as `openai=60`, across all workers of a database.
    """

    default: ModelName = ""
    cheap: ModelName = ""
    fixer: ModelName = ""
    evaluator: ModelName = ""
    base_url: Annotated[str, AfterValidator(_url)] = ""
    api_key_env: Annotated[str, AfterValidator(_variable)] = ""
    price: PricePair = None
    per_minute: tuple[Annotated[str, AfterValidator(_pace)], ...] = ()

    def pace(self, provider: str) -> int | None:
        """Calls a minute that all workers together may make to a provider; None without a limit."""
        limits = dict(limit.split("=") for limit in self.per_minute)
        return int(limits[provider]) if provider in limits else None


class Config(Value):
    """Everything that can be set. `origins` says where each value came from, `notes` what was overruled.

    `parts` no file, variable or option can set: `referee bench` switches parts of the shell off by it.
    """

    source: tuple[Pattern, ...] = ()
    protected: tuple[Pattern, ...] = ()
    include: tuple[Pattern, ...] = ()
    budget: Budget = Budget()
    checks: tuple[CheckSetting, ...] = ()
    skip: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    flaky: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    ignore: tuple[IgnoreSetting, ...] = ()
    judge: JudgeLimits = JudgeLimits()
    models: Models = Models()
    sandbox: Reach = Reach()
    isolation: IsolationMode = IsolationMode.AUTO
    land: Annotated[str, AfterValidator(_land)] = "tree"
    allow_overfitted: bool = True
    ask_before_landing: Before = Before.NEVER
    signing: Signing = Signing()
    outside: OutsideTools = OutsideTools()
    policy: Literal["read-only", "cautious", "trusted"] = "cautious"
    rules: tuple[Rule, ...] = ()
    generator: Annotated[str, AfterValidator(_generator)] = "auto"
    preset: PresetName = PresetName.BUGFIX
    candidates: int = Field(default=1, ge=1, le=16)
    seed: int = Field(default=0, ge=0)
    python: str = ""
    virtual_env: str = ""
    record: str = ""
    parts: Parts = Parts()
    origins: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()

    @property
    def protection(self) -> Protection:
        """What a proposal may change under these settings."""
        return self.guards if self.parts.protection else Protection(nothing=True)

    @property
    def guards(self) -> Protection:
        """What decides about proposals, also where nothing keeps them from changing it."""
        fresh = self.preset is PresetName.TESTS
        return Protection(source=self.source, protected=self.protected, fresh_tests=fresh)

    @property
    def permissions(self) -> tuple[Rule, ...]:
        """What decides about an agent's calls: the rules that were set, and those of the chosen `policy`."""
        return (*self.rules, *PRESETS[self.policy])

    def resolved(self) -> tuple[Setting, ...]:
        """Every setting with its value and origin, sorted by key: what the record of a run keeps."""
        flat: dict[str, Any] = {}
        for key, value in self.model_dump(mode="json", exclude={"origins", "notes"}).items():
            nested = isinstance(value, dict)
            flat |= {f"{key}.{k}": v for k, v in value.items()} if nested else {key: value}
        return tuple(Setting(key=k, value=v, origin=self.origins.get(k, DEFAULT)) for k, v in sorted(flat.items()))
