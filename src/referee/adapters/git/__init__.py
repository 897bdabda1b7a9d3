"""The user's repository through git: trees, snapshots, bases, landing and rollback."""

from referee.adapters.git.workspace import GitWorkspace

__all__ = ["GitWorkspace"]
