"""The command line. Thin: it reads options, calls `referee.api`, shows what comes back.

Nothing heavy is imported before a command runs, so that `referee --help` answers at once.
"""

from referee.cli.entry import main

__all__ = ["main"]
