"""The table of settings: name in a file, environment variable, option, and what a repository may do to it."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from referee.config import rules
from referee.config.judging import CheckSetting, IgnoreSetting, JudgeLimits
from referee.config.people import OutsideTools, Signing
from referee.config.reach import Inject, Reach
from referee.config.values import Config, Models
from referee.domain.cost import Budget
from referee.domain.errors import UsageError
from referee.domain.permission import Rule
from referee.domain.value import Value

_SECTIONS: dict[str, type[Value]] = {
    "": Config, "budget": Budget, "models": Models, "sandbox": Reach, "judge": JudgeLimits,
    "signing": Signing, "outside": OutsideTools,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Key:
    """One setting. `name` is dotted, as in a file; an empty `env` or `flag` means it has none."""

    name: str
    rule: rules.Rule
    env: str = ""
    flag: str = ""
    grows: bool = False

    @property
    def field(self) -> str:
        """The attribute path in `Config`."""
        return _FIELDS.get(self.name, self.name)


def _key(name: str, rule: rules.Rule, env: str = "", flag: str = "", grows: bool = False) -> Key:
    return Key(name=name, rule=rule, env=env, flag=flag, grows=grows)


KEYS = {
    k.name: k
    for k in (
        _key("source", rules.narrow, "REFEREE_SOURCE"),
        _key("protected", rules.grow, "REFEREE_PROTECTED", grows=True),
        _key("include", rules.narrow, "REFEREE_INCLUDE"),
        _key("budget.max_steps", rules.lower, "REFEREE_MAX_STEPS", "--max-steps"),
        _key("budget.timeout", rules.lower, "REFEREE_TIMEOUT", "--timeout"),
        _key("budget.max_tokens", rules.lower, "REFEREE_MAX_TOKENS", "--max-tokens"),
        _key("budget.max_cost_usd", rules.lower, "REFEREE_MAX_COST_USD", "--max-cost"),
        _key("check", rules.grow, grows=True),
        _key("skip", rules.grow, "REFEREE_SKIP", grows=True),
        _key("flaky", rules.grow, "REFEREE_FLAKY", grows=True),
        _key("ignore", rules.grow, grows=True),
        _key("judge.test_seconds", rules.lower, "REFEREE_TEST_SECONDS"),
        _key("judge.target_seconds", rules.lower, "REFEREE_TARGET_SECONDS"),
        _key("judge.suite_seconds", rules.lower, "REFEREE_SUITE_SECONDS"),
        _key("judge.integrity", rules.harder, "REFEREE_INTEGRITY"),
        _key("models.default", rules.model, "REFEREE_MODEL", "--model"),
        _key("models.cheap", rules.model, "REFEREE_CHEAP_MODEL", "--cheap-model"),
        _key("models.fixer", rules.model, "REFEREE_FIXER_MODEL", "--fixer-model"),
        _key("models.evaluator", rules.model, "REFEREE_EVALUATOR_MODEL", "--evaluator-model"),
        _key("models.base_url", rules.never, "REFEREE_BASE_URL", "--base-url"),
        _key("models.api_key_env", rules.never, "REFEREE_API_KEY_ENV"),
        _key("models.price", rules.never, "REFEREE_PRICE", "--price"),
        _key("models.per_minute", rules.never, "REFEREE_PER_MINUTE"),
        _key("sandbox.backend", rules.never, "REFEREE_SANDBOX"),
        _key("sandbox.allow_domains", rules.within, "REFEREE_ALLOW_DOMAINS", "--allow-domain"),
        _key("sandbox.inject", rules.never),
        _key("sandbox.checks", rules.never),
        _key("isolation", rules.stricter, "REFEREE_ISOLATION", "--require-isolation / --allow-degraded"),
        _key("land", rules.land, "REFEREE_LAND", "--land"),
        _key("allow_overfitted", rules.forbid, "REFEREE_ALLOW_OVERFITTED", "--allow-overfitted / --hold-overfitted"),
        _key("ask_before_landing", rules.asks_more, "REFEREE_ASK_BEFORE_LANDING", "--ask-before-landing", grows=True),
        _key("signing.require", rules.only_ssh),
        _key("signing.persons", rules.more),
        _key("signing.minutes", rules.less),
        _key("signing.allowed_signers", rules.never),
        _key("outside.tools", rules.within),
        _key("policy", rules.tighter, "REFEREE_POLICY", "--policy"),
        _key("rule", rules.only_tighten),
        _key("generator", rules.generator, "REFEREE_GENERATOR", "--generator"),
        _key("preset", rules.give_way, "REFEREE_PRESET", "--preset"),
        _key("candidates", rules.lower, "REFEREE_CANDIDATES", "--candidates"),
        _key("seed", rules.give_way, "REFEREE_SEED", "--seed"),
        _key("python", rules.python, "REFEREE_PYTHON", "--python"),
        _key("virtual_env", rules.never, "VIRTUAL_ENV"),
        _key("record", rules.never, "REFEREE_RECORD", "--record"),
    )
}
LISTS = ("models.per_minute", "source", "protected", "include", "skip", "flaky", "sandbox.allow_domains")
# Settings that are a list of tables.
TABLES: dict[str, type[Value]] = {
    "check": CheckSetting, "ignore": IgnoreSetting, "rule": Rule, "sandbox.inject": Inject,
}  # fmt: skip
_FIELDS = {"check": "checks", "rule": "rules"}  # tables are named one by one in a file


def default(key: Key) -> Any:
    """The value of a setting nobody set."""
    value: Any = Config()
    for part in key.field.split("."):
        value = getattr(value, part)
    return value


def checked(key: Key, raw: Any, where: str, *, strict: bool) -> Any:
    """`raw` as the setting's type. `strict` (files) refuses text where a number belongs.

    Raises `UsageError` naming `where`, the key, the value and what is wrong with it.
    """
    try:
        if strict:
            return _adapter(key).validate_json(json.dumps(raw, default=str), strict=True)
        return _adapter(key).validate_python(raw)
    except ValidationError as wrong:
        # A secret may have been put where its variable's name belongs.
        shown = "" if key.name == "sandbox.inject" else f" = {_shown(raw)}"
        raise UsageError(f"{where}: {key.name}{shown} is wrong: {_reason(wrong, key.name)}") from None


def nearest(name: str, names: list[str]) -> str:
    """A hint with the most similar of `names`, by its whole or its last part; else the list of them."""
    last = {n.rpartition(".")[2]: n for n in names} | {n: n for n in names}
    for wanted in (name, name.rpartition(".")[2]):
        close = difflib.get_close_matches(wanted, list(last), n=1, cutoff=0.6)
        if close:
            return f"did you mean {last[close[0]]}?"
    return f"known are {', '.join(sorted(names))}"


@cache
def _adapter(key: Key) -> TypeAdapter[Any]:
    section, _, name = key.field.rpartition(".")
    field = _SECTIONS[section].model_fields[name]
    kind: Any = field.annotation
    for constraint in field.metadata:
        kind = Annotated[kind, constraint]
    # An infinite limit is none, and none is not to be had by a word that happens to be a number.
    return TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False))


def _reason(wrong: ValidationError, name: str) -> str:
    first = wrong.errors(include_url=False)[0]
    place = ".".join(str(p) for p in first["loc"])
    if first["type"] == "extra_forbidden":
        known = list(TABLES[name].model_fields) if name in TABLES else list(KEYS)
        return f"{place} is not a key here; {nearest(str(first['loc'][-1]), known)}"
    text = first["msg"].removeprefix("Value error, ").replace("Input should be", "it should be")
    text = text.replace("a valid tuple", "a list").replace("a valid array", "a list")
    return f"{place}: {text}" if place else text


def _shown(raw: Any) -> str:
    text = json.dumps(raw, default=str, ensure_ascii=True)
    return text if len(text) <= 80 else text[:77] + "..."
