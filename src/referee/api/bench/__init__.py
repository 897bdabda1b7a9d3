"""Evaluation as people and programs call it: mine tasks, let players try them, report."""

from referee.api.bench.campaign import Experiment, read_summary, run
from referee.api.bench.mining import Mining, mine
from referee.api.bench.playing import Player

__all__ = ["Experiment", "Mining", "Player", "mine", "read_summary", "run"]
