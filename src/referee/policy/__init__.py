"""Rules over actions, the same for every flow."""

from referee.policy.asking import ask_in_words
from referee.policy.calls import tool_calls
from referee.policy.hidden import unhidden
from referee.policy.landing import Landings, ask_about_unjudged, ask_before_landing
from referee.policy.outside import Outgoing, sign_outside
from referee.policy.protect import protect

__all__ = [
    "Landings",
    "Outgoing",
    "ask_about_unjudged",
    "ask_before_landing",
    "ask_in_words",
    "protect",
    "sign_outside",
    "tool_calls",
    "unhidden",
]
