"""Python interpreters and environments on this machine, read statically: nothing of a repository is ever run."""

from referee.adapters.python.find import find

__all__ = ["find"]
