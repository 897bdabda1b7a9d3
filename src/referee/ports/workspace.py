"""The user's repository: recorded, read, changed in trees of its own, landed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from referee.domain.patch import Patch
from referee.domain.value import Name, Value
from referee.ports.sandbox import Base

_NAMED = 8  # files left out that a note names one by one


class Snapshot(Value):
    """The repository as it was when the run began. `tree` names its content; nothing else is needed to read it.

    `omitted` says which files are not in it and why (untracked secrets, huge files, sockets), one sentence each.
    """

    tree: str
    head: str = ""
    index_digest: str = ""
    root: str = ""
    identity: str = ""  # device and inode of the root: a replaced folder is another repository (case A43)
    omitted: tuple[str, ...] = ()

    @property
    def left_out(self) -> str:
        """In one sentence, what commands will not see and why; empty if they see everything."""
        more = len(self.omitted) - _NAMED
        tail = f"; and {more} more" if more > 0 else ""
        return f"commands do not see {'; '.join(self.omitted[:_NAMED])}{tail}" if self.omitted else ""


class Commit(Value):
    """A commit to make of a landing, onto `parent`: on the current branch, or alone on the new branch `branch`."""

    parent: str
    message: str
    branch: str = ""


class PullRequest(Value):
    """A pull request to open from `branch`, which is made already."""

    branch: str
    title: str
    body: str = ""


class Published(Value):
    """What became of a pull request: its `url`, or in words what happened and the commands for a person to type."""

    url: str = ""
    said: str = ""
    commands: tuple[str, ...] = ()


class Merged(Value):
    """A tree with the changes of two sides, or the paths that both changed; then there is no tree."""

    tree: str = ""
    conflicts: tuple[str, ...] = ()


class Landing(Value):
    """What a landing did. `conflicts` are paths that changed since they were read: then nothing was written.

    `HEAD` or a branch's full name among the conflicts says that it moved, or is there already.
    """

    how: str
    revision: str | None = None
    written: tuple[Name, ...] = ()
    conflicts: tuple[Name, ...] = ()


class Clash(Value):
    """Both sides of a file that a rollback left alone, as unified diffs or in words where there is no text.

    `since` is what was changed after the run, `undo` what putting it back would have changed;
    `merges` says that both can be had.
    """

    path: Name
    since: str
    undo: str
    merges: bool = False


class Restoration(Value):
    """What a rollback did, path by path. `kept` were changed by somebody else since and stay as they are.

    `merged` were changed since in other lines, which stay. `clashes` shows both sides of each kept one; `patch` is a
    file that `git apply` takes, with the way back. `said` is what it did besides files.
    """

    restored: tuple[Name, ...] = ()
    unchanged: tuple[Name, ...] = ()
    kept: tuple[Name, ...] = ()
    failed: Mapping[Name, str] = {}
    merged: tuple[Name, ...] = ()
    clashes: tuple[Clash, ...] = ()
    patch: str = ""
    said: tuple[str, ...] = ()


class Workspace(Protocol):
    """The user's repository: snapshotted and read at will, written only by `land`, `commit` and `rollback`.

    Trees are content-addressed and kept in a private store; the user's `.git`, index, HEAD, branches,
    stash and reflog are written only to commit, and never without being asked to.
    """

    @property
    def root(self) -> str: ...
    def snapshot(self, run_id: str, *, settled: bool = True) -> Snapshot:
        """Record the tree as it is: tracked, untracked, staged; modes, symlinks. Raises `UsageError` if it cannot.

        Unless `settled` is False, it refuses while git itself is at work there (a merge, a held index): for those who
        land something afterwards. Who only looks, as a hook of a commit does, need not wait for that very commit.
        """
        ...

    def base(self, tree: str, protected: Callable[[str], bool]) -> Base:
        """An immutable copy of `tree` on disk to mount, with the protected paths found in it."""
        ...

    def paths(self, tree: str) -> tuple[str, ...]:
        """All file paths in `tree`, sorted, as text (names that are not UTF-8 use surrogate escapes)."""
        ...

    def read(self, tree: str, path: str) -> bytes | None:
        """The bytes of a regular file in `tree`; None if there is none (or it is not a regular file)."""
        ...

    def executable(self, tree: str, path: str) -> bool: ...
    def apply(self, tree: str, patch: Patch) -> str:
        """The tree that `patch` makes of `tree`. All or nothing; touches no file of the user's."""
        ...

    def diff(self, before: str, after: str) -> bytes:
        """A patch between two trees that `git apply` takes, computed from bytes."""
        ...

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """The paths in which two trees (or commits) differ, sorted."""
        ...

    def recent(self, tree: str, commits: int) -> Mapping[str, tuple[int, ...]]:
        """The lines of Python files in `tree` that are not as they were `commits` commits before HEAD, by path.

        Nothing if there are fewer commits; a file of which most was changed is left out.
        """
        ...

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Make the user's files go from `before` to `after`, all or nothing even across a power loss.

        Compare-and-swap per path against `before`; on any conflict nothing changes and `conflicts` says where.
        """
        ...

    def check_place(self, how: str) -> tuple[str, ...]:
        """Whether a result can go to `how` (as `--land` has it), before any work is done; what to know, in words.

        Raises `UsageError` with what to type instead.
        """
        ...

    def commit(self, run_id: str, before: str, after: str, commit: Commit) -> Landing:
        """Commit what changes from `before` to `after`, without anything else of the user's that is uncommitted.

        On the current branch the files are landed with it, all or nothing. Raises `UsageError` in words where the
        change cannot be told apart from theirs.
        """
        ...

    def publish(self, request: PullRequest) -> Published:
        """Push the branch and open the pull request, outside the sandbox with the person's own credentials.

        What fails there is a result, never an exception: the branch is made and stays.
        """
        ...

    def by_hand(self, request: PullRequest) -> tuple[str, ...]:
        """The commands with which a person does the same. Reaches nothing."""
        ...

    def merge(self, base: str, ours: str, theirs: str) -> Merged:
        """The tree `ours` with what changes from `base` to `theirs`. Touches no file of the user's."""
        ...

    def landed(self, run_id: str) -> Landing | None:
        """The landing of this run if an earlier try took effect (after finishing what a crash interrupted)."""
        ...

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Undo what this run landed, only where the files still are as it left them.

        With `merge`, also where somebody changed other lines of the same file: theirs stay.
        """
        ...

    def recover(self) -> tuple[str, ...]:
        """Finish or undo landings that a crash interrupted; says in words what was done."""
        ...

    def close(self) -> None: ...
