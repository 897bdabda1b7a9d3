"""Rules over actions, the same for every flow."""

from referee.policy.protect import protect

__all__ = ["protect"]
