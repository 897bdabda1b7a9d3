"""Rules over actions, the same for every flow."""

from referee.policy.landing import Landings, ask_before_landing
from referee.policy.protect import protect

__all__ = ["Landings", "ask_before_landing", "protect"]
