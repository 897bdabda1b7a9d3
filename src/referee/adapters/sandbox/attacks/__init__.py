"""Attacks on a sandbox, and the host's judgement of them (C1-C5): the escape suite, and `referee doctor --attack`.

An attack is a function that runs inside (`inside/`). Whether it succeeded is decided outside, by what the host can
see: its files, its listeners, its processes, the kernel's account of the attacker. Each attack is judged by every
oracle there is, not only by the one it aims at.
"""

from __future__ import annotations

from referee.adapters.sandbox.attacks.campaign import Outcome, campaign
from referee.adapters.sandbox.attacks.inside.main import MODULES
from referee.adapters.sandbox.attacks.inside.registry import ATTACKS, Attack

__all__ = ["ATTACKS", "MODULES", "Attack", "Outcome", "campaign"]
