"""Which tool calls may happen: rules with a fixed precedence, and presets of them (I1, H8)."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from referee.domain.risk import Risk
from referee.domain.value import Value

Ruled = Literal["deny", "ask", "allow"]
_ORDER: tuple[Ruled, ...] = ("deny", "ask", "allow")


class Rule(Value):
    """One rule: `then` for calls of `tool` whose arguments match `match`, or of the class `risk`; both are wildcards.

    `match` is compared with every text in the arguments, or only with the one named `argument`. A rule that names a
    tool or arguments is specific, one for a class or for everything is general. `reason` is told to the model.
    One that `only_tightens` is a repository's: it forbids or asks, and never makes way for what others forbid.
    """

    then: Ruled
    tool: Annotated[str, Field(min_length=1)] = "*"
    match: str = ""
    argument: str = ""
    risk: Risk | None = None
    reason: Annotated[str, Field(max_length=500)] = ""
    only_tightens: bool = False

    @model_validator(mode="after")
    def _exact(self) -> Rule:
        if self.argument and not self.match:
            raise ValueError("argument says what match is compared with; give match too, or leave argument out")
        if self.then == "allow" and self.match and not self.argument:
            raise ValueError(
                'an allow with match must say which argument it is about, such as argument = "command"; '
                "else any text of the call, such as its purpose, would open it"
            )
        return self

    @property
    def specific(self) -> bool:
        """Whether it is about something in particular."""
        return self.tool != "*" or bool(self.match)

    def applies(self, tool: str, arguments: str, risk: Risk) -> bool:
        """Whether it is about this call."""
        if self.risk is not None and risk is not self.risk:
            return False
        fits = not self.match or any(fnmatch.fnmatchcase(text, self.match) for text in _texts(arguments, self.argument))
        return fits and fnmatch.fnmatchcase(tool.casefold(), self.tool.casefold())

    @property
    def words(self) -> str:
        """The rule as a person would say it."""
        what = f"class {self.risk.value}" if self.risk else self.tool
        what = f"{self.tool} of the class {self.risk.value}" if self.risk and self.tool != "*" else what
        return f"{self.then} {what}" + (f" {self.match}" if self.match else "")


def _texts(arguments: str, name: str) -> Iterator[str]:
    """The texts in a call's arguments: decoded, for JSON has many ways to write one text, and each by itself."""
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if name:
        if isinstance(given, dict) and name in given:
            yield from _leaves(given[name])
        return
    yield arguments
    if given is not None:
        yield json.dumps(given, ensure_ascii=False)
        yield from _leaves(given)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield json.dumps(value)


PRESETS: dict[str, tuple[Rule, ...]] = {
    "read-only": (Rule(then="allow", risk=Risk.READ),),
    "cautious": (
        Rule(then="allow", risk=Risk.READ),
        Rule(then="allow", risk=Risk.SCRATCH),
        Rule(then="ask", risk=Risk.HOST),
        Rule(then="ask", risk=Risk.EGRESS),
        Rule(then="ask", risk=Risk.IRREVERSIBLE),
    ),
    "trusted": (
        Rule(then="allow", risk=Risk.READ),
        Rule(then="allow", risk=Risk.SCRATCH),
        Rule(then="allow", risk=Risk.HOST),
        Rule(then="allow", risk=Risk.EGRESS),
        Rule(then="ask", risk=Risk.IRREVERSIBLE),
    ),
}
CLOSED = Rule(then="deny")  # for what no rule is about


def ruled(rules: Sequence[Rule], tool: str, arguments: str, risk: Risk) -> Rule:
    """The rule that decides: specific before general, and of each deny before ask before allow.

    Rules that only tighten are looked at by themselves, and the stricter of the two decides: a repository's specific
    `ask` must not make way for what a general `deny` of the user's forbids.
    """
    about = [r for r in rules if r.applies(tool, arguments, risk)]
    stands = _first([r for r in about if not r.only_tightens]) or CLOSED
    tighter = _first([r for r in about if r.only_tightens])
    if tighter is None or _ORDER.index(tighter.then) >= _ORDER.index(stands.then):
        return stands
    return tighter


def _first(about: Sequence[Rule]) -> Rule | None:
    for specific in (True, False):
        for then in _ORDER:
            for rule in about:
                if rule.specific is specific and rule.then == then:
                    return rule
    return None
