"""The composition root: from settings to a repository at hand, its sandbox, its store, its models and its players."""

from referee.wiring.desk import Desk, open_store
from referee.wiring.playing import able, errand, evaluator, players, shell

__all__ = ["Desk", "able", "errand", "evaluator", "open_store", "players", "shell"]
