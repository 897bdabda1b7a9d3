"""Dependency versions by uv's resolver, from the index that the user has configured."""

from referee.adapters.uv.resolve import Wish, resolve
from referee.adapters.uv.wanted import Wanted, repinned, wanted

__all__ = ["Wanted", "Wish", "repinned", "resolve", "wanted"]
