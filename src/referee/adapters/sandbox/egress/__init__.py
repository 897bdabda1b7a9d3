"""A way out of the sandbox for listed names only (a proxy outside); secrets are added there and never go in."""

from __future__ import annotations

from referee.adapters.sandbox.egress.door import Door, through
from referee.adapters.sandbox.egress.outside import Network, Outside, RealNetwork

__all__ = ["Door", "Network", "Outside", "RealNetwork", "through"]
