"""What projects in other languages need to build and test without a network: found on disk, nothing is ever run."""

from referee.adapters.toolchains.find import find
from referee.adapters.toolchains.program import program

__all__ = ["find", "program"]
