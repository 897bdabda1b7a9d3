"""A player that misbehaves at known rates, so that what the shell stops can be counted. It is a simulation."""

from referee.evals.adversary.kinds import RATES, Kind, Plan, kind_of
from referee.evals.adversary.model import AdversaryModel, read_plan

__all__ = ["RATES", "AdversaryModel", "Kind", "Plan", "kind_of", "read_plan"]
