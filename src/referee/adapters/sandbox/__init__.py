"""Sandboxes: where commands run isolated from the host (B1-B6).

`open_sandbox` gives the best one that proved itself here; `choose` says what each proved; `attack` tries to break
it; `sandbox_owner` says who must own the files of a base so that commands can change them.
"""

from __future__ import annotations

from referee.adapters.sandbox.choice import Choice, Examined, choose, open_sandbox, survey
from referee.adapters.sandbox.discreet import DiscreetSandbox
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.requests import sandbox_owner
from referee.adapters.sandbox.siege import attack
from referee.adapters.sandbox.streams import Listener, fed, heard

__all__ = [
    "Choice", "DiscreetSandbox", "Examined", "Listener", "Outside", "attack", "choose", "fed", "heard", "open_sandbox",
    "sandbox_owner", "survey",
]  # fmt: skip
