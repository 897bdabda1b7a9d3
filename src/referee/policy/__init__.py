"""Rules over actions, the same for every flow."""

from referee.policy.landing import Landings, ask_before_landing
from referee.policy.outside import Outgoing, sign_outside
from referee.policy.protect import protect

__all__ = ["Landings", "Outgoing", "ask_before_landing", "protect", "sign_outside"]
