"""Trees: record the repository, prepare a copy, apply a patch, land."""

from __future__ import annotations

from typing import ClassVar

from referee.domain.patch import Patch
from referee.domain.protection import Protection
from referee.kernel.action import Action, Effect
from referee.ports import Base, Commit, Landing, Merged, Snapshot, World


class TakeSnapshot(Action[Snapshot]):
    """Record the repository as it is."""

    name: ClassVar[str] = "snapshot"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = Snapshot

    run_id: str
    settled: bool = True

    def perform(self, world: World) -> Snapshot:
        """Raises `UsageError` if the repository cannot be recorded."""
        return world.workspace.snapshot(self.run_id, settled=self.settled)


class PrepareBase(Action[Base]):
    """An immutable copy of a tree on disk, to be mounted."""

    name: ClassVar[str] = "base"
    volatile: ClassVar[bool] = True  # the copy may be gone when a run is resumed
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = Base

    tree: str
    protection: Protection

    def perform(self, world: World) -> Base:
        """Build it or find it built."""
        return world.workspace.base(self.tree, self.protection.guarded)


class Apply(Action[str]):
    """Make the tree that a patch turns `base` into, in the private store; no file of the user's changes."""

    name: ClassVar[str] = "apply"
    effect: ClassVar[Effect] = Effect.WRITE
    result_type: ClassVar[type] = str

    base: str
    patch: Patch

    def perform(self, world: World) -> str:
        """Raises `Rejected` if the patch does not fit the tree."""
        return world.workspace.apply(self.base, self.patch)


class LandTree(Action[Landing]):
    """Make the user's files go from one tree to another, all or nothing."""

    name: ClassVar[str] = "land"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = Landing

    run_id: str
    before: str
    after: str

    def perform(self, world: World) -> Landing:
        """Conflicts are a result, not an error."""
        return world.workspace.land(self.run_id, self.before, self.after)

    def recover(self, world: World) -> Landing | None:
        """The landing, if an earlier try of this run took effect."""
        return world.workspace.landed(self.run_id)


class LandCommit(Action[Landing]):
    """Make a commit of the change from one tree to another, on the current branch (with the files) or on a new one."""

    name: ClassVar[str] = "land_commit"
    effect: ClassVar[Effect] = Effect.LAND
    result_type: ClassVar[type] = Landing

    run_id: str
    before: str
    after: str
    commit: Commit

    def perform(self, world: World) -> Landing:
        """Conflicts are a result; raises `UsageError` where the user's own changes are in the way."""
        return world.workspace.commit(self.run_id, self.before, self.after, self.commit)

    def recover(self, world: World) -> Landing | None:
        """The commit, if an earlier try of this run made it."""
        return world.workspace.landed(self.run_id)


class Merge(Action[Merged]):
    """Make the tree that has what both the user and a proposal changed since `base`; no file of the user's changes."""

    name: ClassVar[str] = "merge"
    effect: ClassVar[Effect] = Effect.WRITE
    result_type: ClassVar[type] = Merged

    base: str
    ours: str
    theirs: str

    def perform(self, world: World) -> Merged:
        """Conflicts are a result, not an error."""
        return world.workspace.merge(self.base, self.ours, self.theirs)
