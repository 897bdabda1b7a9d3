"""Evaluation as people and programs call it: mine tasks, let players try them, report."""

from referee.api.bench.campaign import run
from referee.api.bench.experiment import Experiment
from referee.api.bench.mining import Mining, mine
from referee.api.bench.playing import Player
from referee.api.bench.record import read_summary

__all__ = ["Experiment", "Mining", "Player", "mine", "read_summary", "run"]
