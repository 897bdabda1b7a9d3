"""The composition root: from settings to a repository at hand, its sandbox, its store, its models and its players."""

from referee.wiring.desk import Desk, difference, open_store
from referee.wiring.playing import able, errand, evaluator, players, shell

__all__ = ["Desk", "able", "difference", "errand", "evaluator", "open_store", "players", "shell"]
