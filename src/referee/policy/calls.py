"""Rules over the tool calls of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee.actions.call_tool import CallTool
from referee.domain.finding import Finding, FindingKind
from referee.domain.permission import Rule, ruled
from referee.domain.question import Asking, Demand
from referee.domain.risk import Risk
from referee.kernel.action import Action
from referee.kernel.policy import Ask, Deny, Policy, Ruling
from referee.policy.landing import Landings

REQUEST = "request"  # the tool by which a model asks for a call that a rule denies


def tool_calls(rules: Sequence[Rule], landings: Landings) -> Policy:
    """Rule on every call by its tool, arguments and class.

    What is denied and a person granted is asked about, with its arguments, unless it is irreversible.
    """

    def ruling(action: Action[Any]) -> Ruling | None:
        if not isinstance(action, CallTool):
            return None
        if action.tool == REQUEST:
            return _asked(action, landings, Asking.APPROVAL)
        rule = ruled(rules, action.tool, action.arguments, action.risk)
        if rule.then == "allow" and action.risk is not Risk.IRREVERSIBLE:  # that is signed, whatever a rule says
            return None
        if rule.then != "deny" or (action.granted and action.risk is not Risk.IRREVERSIBLE):
            kind = Asking.SIGNATURE if action.risk is Risk.IRREVERSIBLE else Asking.APPROVAL
            return _asked(action, landings, kind)
        message = rule.reason or _why(rule, action)
        return Deny(
            findings=(
                Finding(
                    kind=FindingKind.UNAUTHORISED, check="policy", id=action.tool, rule=rule.words, message=message
                ),
            )
        )

    return ruling


def _why(rule: Rule, action: CallTool) -> str:
    if rule.match:
        return f"a call of {action.tool} with {rule.argument or 'text'} like {rule.match} is not allowed here"
    if rule.specific and rule.risk is None:
        return f"{action.tool} is not allowed here"
    return f"{action.tool} is of the class {action.risk.value}, which is not allowed here"


def _asked(action: CallTool, landings: Landings, kind: Asking) -> Ask:
    return Ask(
        kind=kind,
        summary=f"the agent wants to call {action.tool} ({action.risk.value}): {action.arguments[:120]}",
        shown=f"Tool {action.tool}, class {action.risk.value}.\nArguments, exactly:\n{action.arguments}\n",
        requester=landings.requester,
        demand=landings.demand if kind is Asking.SIGNATURE else Demand(),
        seconds=landings.seconds,
    )
