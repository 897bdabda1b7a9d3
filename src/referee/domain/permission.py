"""Which tool calls may happen: rules with a fixed precedence, and presets of them (I1, H8)."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Literal

from referee.domain.risk import Risk
from referee.domain.value import Value

Ruled = Literal["deny", "ask", "allow"]
_ORDER: tuple[Ruled, ...] = ("deny", "ask", "allow")


class Rule(Value):
    """One rule: `then` for calls of `tool` whose arguments match `match`, or of the class `risk`; both are wildcards.

    A rule that names a tool or arguments is specific, one for a class or for everything is general.
    """

    then: Ruled
    tool: str = "*"
    match: str = ""
    risk: Risk | None = None

    @property
    def specific(self) -> bool:
        """Whether it is about something in particular."""
        return self.tool != "*" or bool(self.match)

    def applies(self, tool: str, arguments: str, risk: Risk) -> bool:
        """Whether it is about this call."""
        if self.risk is not None and risk is not self.risk:
            return False
        fits = not self.match or any(fnmatch.fnmatchcase(word, self.match) for word in (arguments,))
        return fits and fnmatch.fnmatchcase(tool, self.tool)

    @property
    def words(self) -> str:
        """The rule as a person would say it."""
        what = f"class {self.risk.value}" if self.risk else self.tool
        return f"{self.then} {what}" + (f" {self.match}" if self.match else "")


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
    """The rule that decides: specific before general, and of each deny before ask before allow."""
    about = [r for r in rules if r.applies(tool, arguments, risk)]
    for specific in (True, False):
        for then in _ORDER:
            for rule in about:
                if rule.specific is specific and rule.then == then:
                    return rule
    return CLOSED
