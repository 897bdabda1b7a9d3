"""Evaluation as people and programs call it: mine tasks, let players try them, report."""

from referee.api.bench.mining import Mining, mine

__all__ = ["Mining", "mine"]
