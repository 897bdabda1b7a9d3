"""The git workspace: the port `Workspace` over a user's repository and the private store inside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from time import time

from referee.adapters.git.apply import applied
from referee.adapters.git.base import Bases, changed, collapse, listed
from referee.adapters.git.commit import Commits
from referee.adapters.git.compose import Composer
from referee.adapters.git.entry import EXECUTABLE
from referee.adapters.git.git import Git
from referee.adapters.git.history import History
from referee.adapters.git.landing import Landings, patch_between
from referee.adapters.git.lately import lately
from referee.adapters.git.listed import Listed
from referee.adapters.git.merge import Merger
from referee.adapters.git.names import decode, encode, shown
from referee.adapters.git.objects import Objects
from referee.adapters.git.place import check_place
from referee.adapters.git.private import Private, refused
from referee.adapters.git.publish import Publisher
from referee.adapters.git.records import LandingRecord, Records, SnapshotRecord
from referee.adapters.git.rename import Point
from referee.adapters.git.repository import Repository
from referee.adapters.git.root import Root
from referee.adapters.git.snapshot import Camera
from referee.adapters.git.trees import Trees
from referee.domain.patch import Patch
from referee.ports import Base, Commit, Landing, Merged, Published, PullRequest, Restoration, Snapshot

DAY = 86_400.0
REMEMBERED = 8  # listings of trees


def _unobserved(_: str) -> None:
    """Where nobody injects crashes."""


class GitWorkspace:
    """A user's git repository, at `path` or above it.

    `extra` are shell patterns of ignored files that tests need (`*.so`, `_version.py`); they become part of
    snapshots, up to a size. `owner` (user id, group id) gets the files of bases when this process is root, so that
    a sandbox running as that user may change them in its own layer. `point` is told every step of a landing.

    Raises `UsageError` if there is no usable repository, `WorldFault` if git is missing or too old.
    """

    def __init__(
        self,
        path: str,
        *,
        extra: Sequence[str] = (),
        owner: tuple[int, int] | None = None,
        git: Git | None = None,
        point: Point = _unobserved,
    ) -> None:
        git = git or Git()
        _ = git.version
        self._repository = Repository.discover(git, encode(path))
        self._private = Private(git, self._repository)
        self._private.prepare()
        algorithm = self._repository.algorithm
        try:
            self._folder = Root(self._repository.root, algorithm, given=encode(path))
        except OSError as error:
            raise refused(error, self._repository.root) from error
        self._objects = Objects(git, self._private, algorithm)
        self._trees = Trees(self._objects)
        self._records = Records(self._private)
        self._camera = Camera(self._repository, self._private, extra)
        self._bases = Bases(self._private, owner, self._repository.tags)
        self._merger = Merger(git, self._private, self._objects, self._trees)
        self._landings = Landings(self._folder, self._private, self._objects, self._records, point, self._merger)
        self._history = History(git, self._repository)
        composer = Composer(self._history, self._objects, self._merger)
        self._commits = Commits(
            (self._folder, self._private, self._records), self._history, composer, self._landings, point
        )
        self._publisher = Publisher(git, self._history)
        self._listed: dict[str, Listed] = {}
        self._protected: dict[tuple[str, Callable[[str], bool]], tuple[str, ...]] = {}

    @property
    def root(self) -> str:
        """The top level of the repository, without symlinks."""
        return decode(self._repository.root)

    def names(self) -> tuple[str, ...]:
        """Every file that is tracked or not ignored, as they are now."""
        return tuple(map(decode, self._repository.names()))

    def snapshot(self, run_id: str, *, settled: bool = True) -> Snapshot:
        """Record the files as they are, verified complete. Raises `UsageError` in words if it cannot."""
        self._folder.check()
        if settled:
            self._repository.check_quiet()
            self._landings.recover()
        try:
            taken = self._camera.take()
            snapshot = Snapshot(
                tree=taken.tree,
                head=taken.head,
                index_digest=taken.digest,
                root=self.root,
                identity=self._folder.identity,
                omitted=tuple(f"{shown(path)}: {why}" for path, why in taken.omitted),
            )
            self._records.save(run_id, "snapshot", SnapshotRecord(snapshot=snapshot))
        except OSError as error:
            raise refused(error, self._private.path) from error
        return snapshot

    def base(self, tree: str, protected: Callable[[str], bool]) -> Base:
        """An immutable copy of `tree`, held until `close`, with the protected paths in it."""
        self._folder.check()
        path = self._bases.path(tree)
        key = (tree, protected)
        if key not in self._protected:
            if len(self._protected) >= REMEMBERED:
                self._protected.clear()
            self._protected[key] = collapse(self._list(tree).files.items(), protected)
        return Base(tree=tree, path=decode(path), mount_at=self.root, protected=self._protected[key])

    def paths(self, tree: str) -> tuple[str, ...]:
        """All files and symlinks in `tree`, sorted."""
        return self._list(tree).paths

    def read(self, tree: str, path: str) -> bytes | None:
        """The bytes of a regular file in `tree`, verified; None if there is none."""
        entry, found = self._trees.look_up(tree, encode(path))
        if entry is None or not entry.regular or found != encode(path):
            return None
        return self._objects.read(entry.oid)

    def executable(self, tree: str, path: str) -> bool:
        """Whether `path` is an executable regular file in `tree`."""
        entry, found = self._trees.look_up(tree, encode(path))
        return entry is not None and entry.mode == EXECUTABLE and found == encode(path)

    def apply(self, tree: str, patch: Patch) -> str:
        """The tree that `patch` makes of `tree`. Raises `Rejected` with every path that does not fit."""
        self._folder.check()
        try:
            after = applied(patch, tree, trees=self._trees, objects=self._objects, root=self._folder)
        except OSError as error:
            raise refused(error, self._private.path) from error
        if tree in self._listed and after not in self._listed:
            self._remember(after, self._listed[tree].patched(patch))
        return after

    def diff(self, before: str, after: str) -> bytes:
        """A patch between two trees that `git apply` takes, computed from bytes."""
        return patch_between(self._private, before, after)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """The paths in which two trees or commits differ, by raw bytes."""
        return tuple(map(decode, changed(self._private, before, after)))

    def recent(self, tree: str, commits: int) -> dict[str, tuple[int, ...]]:
        """The lines of `tree` that the last commits and the uncommitted work have changed."""
        return lately(self._private, self._history, tree, commits)

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Make the files go from `before` to `after`, all or nothing, where they still are as in `before`."""
        self._repository.check_quiet()
        return self._landings.land(run_id, before, after)

    def check_place(self, how: str) -> tuple[str, ...]:
        """What to know about landing at `how`. Raises `UsageError` if that cannot be."""
        return check_place(self._history, how)

    def commit(self, run_id: str, before: str, after: str, commit: Commit) -> Landing:
        """Commit the change from `before` to `after`; on the current branch the files and the index go with it."""
        if not commit.branch:
            self._repository.check_quiet()
        return self._commits.commit(run_id, before, after, commit)

    def publish(self, request: PullRequest) -> Published:
        """Push the branch and open a pull request with gh or glab; or say what happened and what to type."""
        return self._publisher.publish(request)

    def by_hand(self, request: PullRequest) -> tuple[str, ...]:
        """The commands that publish a branch, for a person to type."""
        return self._publisher.by_hand(request)

    def merge(self, base: str, ours: str, theirs: str) -> Merged:
        """The tree `ours` with what changes from `base` to `theirs`, or the paths where both changed the same lines."""
        return self._merger.trees(base, ours, theirs)

    def landed(self, run_id: str) -> Landing | None:
        """The landing of this run if it took effect, after finishing what a crash interrupted."""
        return self._commits.landed(run_id) or self._landings.landed(run_id)

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Undo what this run landed, path by path, only where the files still are as it left them."""
        return self._commits.rollback(run_id, merge=merge)

    def recover(self) -> tuple[str, ...]:
        """Finish or undo a landing that a crash interrupted; says in words what was done."""
        said = self._commits.recover()
        return (*said, *self._landings.recover())

    def kept(self, run_id: str) -> bool:
        """Whether what a rollback or a resume of this run needs is still there."""
        return self._records.known(run_id)

    def collect(self, days: float = 7.0, keep: Mapping[str, Collection[str]] | None = None) -> tuple[str, ...]:
        """Drop snapshots older than `days` with what only they need, and unused bases; the runs dropped.

        `keep` are runs that may go on, with the trees they made: nothing of theirs is dropped, however old. Objects
        younger than a day stay: a run that began just now may need them.
        """
        now, keep = time(), keep or {}
        dropped: list[str] = []
        trees = [tree for made in keep.values() for tree in made if self._objects.holds(tree)]
        for run_id in self._records.all():
            if run_id not in keep and self._records.age(run_id, now) > days * DAY:
                self._records.forget(run_id)
                dropped.append(run_id)
                continue
            taken = self._records.load(run_id, "snapshot", SnapshotRecord)
            landing = self._records.load(run_id, "landing", LandingRecord)
            trees += [taken.snapshot.tree] if taken else []
            trees += [landing.after] if landing and self._objects.holds(landing.after) else []
        self._bases.prune()  # or one is moved forward from a tree whose objects are gone
        with self._private.locked(b"snapshot"):
            self._camera.forget()
            self._objects.forget()
            self._private.git("prune", f"--expire={int(now - max(days, 1.0) * DAY)}", "--", *dict.fromkeys(trees))
        return tuple(dropped)

    def close(self) -> None:
        """Let go of bases, processes and the folder."""
        self._bases.close()
        self._objects.close()
        self._folder.close()

    def _list(self, tree: str) -> Listed:
        if tree not in self._listed:
            self._remember(tree, Listed(dict(listed(self._private, tree))))
        return self._listed[tree]

    def _remember(self, tree: str, found: Listed) -> None:
        if len(self._listed) >= REMEMBERED:
            del self._listed[next(iter(self._listed))]
        self._listed[tree] = found
