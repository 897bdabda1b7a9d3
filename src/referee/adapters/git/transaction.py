"""Changing several files all or nothing, whatever kills the process in between.

The new contents are staged in `.harness/landing/` on the same file system and made durable; an intent names every
step with what is expected and what is wanted; then each file changes places with its staged one, so that the old
file lands in the stage, where it is checked: if somebody wrote in the meantime the two change back. A commit mark
ends it. Recovery goes forward if every path is old or new and some are new, else back; what is neither is left alone.
The marks lie ready from the start, so that a disk which fills up on the way is no reason not to set one.

A replaced file is a new inode: permissions, owner, extended attributes and access lists are carried over, other
hard links keep the old content. There is no moment at which all files change together; no file system offers one.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

from referee.adapters.git.names import WorkPath, shown
from referee.adapters.git.private import Private
from referee.adapters.git.rename import Point
from referee.adapters.git.root import FOLDER, Root, remove
from referee.adapters.git.stage import Changed, Stage, Step
from referee.adapters.sync import sync_file_system, sync_folder, sync_folders, sync_together
from referee.domain.errors import WorldFault
from referee.domain.value import Value

LAND, ROLLBACK = "land", "rollback"
TRASH = b"trash-"
MARKS = ("commit", "abort")
READY = b"ready-"
# Not empty: somebody uses the folder. Gone or replaced: somebody removed it. All of this is theirs to decide.
THEIRS = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR)
FEW = 48  # files synced together; for more, one sync of the file system is faster, if it is not busy


class Intent(Value):
    """A whole change. `made` are folders to create for it, `prune` folders to remove after it if they are empty."""

    kind: str
    run_id: str
    steps: tuple[Step, ...]
    made: tuple[WorkPath, ...] = ()
    prune: tuple[WorkPath, ...] = ()


class Outcome(Value):
    """`done` says whether the change took effect; `said` is what a person should know."""

    intent: Intent | None = None
    done: bool = False
    said: tuple[str, ...] = ()


class Transaction:
    """The change in progress, if any. The caller holds the landing lock. `point` is told each step a kill may hit."""

    def __init__(self, root: Root, private: Private, point: Point) -> None:
        self._root = root
        self._private = private
        self._point = point
        self._path = os.path.join(private.path, b"landing")

    def run(self, intent: Intent, content: Callable[[str], bytes]) -> Outcome:
        """Carry out a change. If a path is not as expected nothing has changed and `done` is False.

        The outcome stays on disk until `close`: whoever records it can do so after a crash as well.
        """
        os.mkdir(self._path, 0o700)
        self._point("stage made")
        try:
            stage = Stage(self._path, self._root, self._point)
        except BaseException:
            self._clear()
            raise
        try:
            try:
                self._prepare(stage, intent, content)
            except Changed as changed:
                return Outcome(intent=intent, said=(_moved(changed),))
            except BaseException:
                self._clear()
                raise
            return self._carry_out(stage, intent)
        finally:
            stage.close()

    def recover(self) -> Outcome:
        """End what a crash interrupted, forward or back."""
        self._empty_trash()
        if not os.path.isdir(self._path):
            return Outcome()
        if not self._marked("intent"):
            self._clear()
            return Outcome(said=("removed what an interrupted landing had staged; no file of yours had changed",))
        intent = self._intent()
        stage = Stage(self._path, self._root, self._point)
        try:
            for i in range(len(intent.steps)):
                stage.settle(i)
            if self._marked("commit"):
                return self._finish(stage, intent)
            found = [(self._root.observe(step.path), step) for step in intent.steps]
            known = all(now in (step.expect, step.want) for now, step in found)
            # Nothing has changed yet: whoever was told that it failed need not be surprised later.
            begun = any(now == step.want for now, step in found)
            if self._marked("abort") or not known or not begun:
                return self._undo(stage, intent, ())
            return self._carry_out(stage, intent)
        finally:
            stage.close()

    @property
    def open(self) -> bool:
        """Whether a change is begun and not ended: some files may be new while others are old."""
        return os.path.exists(os.path.join(self._path, b"intent"))

    def _intent(self) -> Intent:
        with open(os.path.join(self._path, b"intent"), "rb") as file:
            text = file.read()
        try:
            return Intent.model_validate_json(text)
        except ValueError as error:
            raise WorldFault(
                f"the record of an interrupted landing is damaged ({error}); nothing was changed; "
                f"look at {shown(self._path)} and delete it"
            ) from error

    def close(self, outcome: Outcome) -> None:
        """Forget an outcome that is recorded elsewhere."""
        if outcome.intent is not None:
            self._clear()

    def _prepare(self, stage: Stage, intent: Intent, content: Callable[[str], bytes]) -> None:
        staged = [(i, step, step.want) for i, step in enumerate(intent.steps) if step.want is not None]
        for i, step, want in staged:
            stage.put(i, step, content(want.oid))
            self._point("content staged")
        for name, data in (("intent", intent.model_dump_json().encode()), *((mark, b"") for mark in MARKS)):
            stage.write(READY + name.encode(), data)
        if len(staged) <= FEW:
            stage.sync([i for i, _, _ in staged], READY + b"intent")
        else:
            sync_file_system(stage.fd)
        self._point("contents durable")
        os.rename(self._ready("intent"), os.path.join(self._path, b"intent"))
        sync_folders(self._path, self._private.path)
        self._point("intent durable")

    def _carry_out(self, stage: Stage, intent: Intent) -> Outcome:
        try:
            self._make_folders(intent)
            for i, step in enumerate(intent.steps):
                stage.do(i, step)
            self._sync_folders(intent)
        except Changed as changed:
            return self._undo(stage, intent, (_moved(changed),))
        except BaseException:
            self.close(self._undo(stage, intent, ()))
            raise
        self._mark("commit")
        return self._finish(stage, intent)

    def _finish(self, stage: Stage, intent: Intent) -> Outcome:
        said = self._rescue(stage, intent)
        self._remove_folders(intent.prune)
        return Outcome(intent=intent, done=True, said=said)

    def _undo(self, stage: Stage, intent: Intent, why: tuple[str, ...]) -> Outcome:
        """Put back what can be put back, even on a disk that refuses some of it; recovery does the rest."""
        faults = []
        steps = reversed(list(enumerate(intent.steps)))
        for attempt in (partial(self._mark, "abort"), *(partial(stage.undo, i, step) for i, step in steps)):
            try:
                attempt()
            except OSError as fault:
                faults.append(fault)
        if faults:
            raise faults[0]
        self._sync_folders(intent)
        said = self._rescue(stage, intent)
        self._remove_folders(intent.made)
        return Outcome(intent=intent, done=False, said=(*why, *said))

    def _rescue(self, stage: Stage, intent: Intent) -> tuple[str, ...]:
        """Keep what somebody wrote into a file at the instant it was replaced."""
        said = []
        for i, step in enumerate(intent.steps):
            if stage.foreign(i, step):
                folder = os.path.join(self._private.path, b"rescued")
                os.makedirs(folder, mode=0o700, exist_ok=True)
                name = b"%s-%s" % (secrets.token_hex(4).encode(), step.path.rpartition(b"/")[2])
                os.rename(os.path.join(self._path, b"%d" % i), os.path.join(folder, name))
                said.append(
                    f"{shown(step.path)} was written to while it was replaced; "
                    f"that version is .harness/rescued/{shown(name)}"
                )
        return tuple(said)

    def _make_folders(self, intent: Intent) -> None:
        for path in intent.made:
            try:
                with self._root.parent(path) as (parent, name), suppress(FileExistsError):
                    os.mkdir(name, dir_fd=parent)
                    if os.geteuid() == 0:
                        like = os.fstat(parent)
                        os.chown(name, like.st_uid, like.st_gid, dir_fd=parent, follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise Changed(shown(path)) from error
            self._point("folder made")

    def _remove_folders(self, paths: tuple[bytes, ...]) -> None:
        for path in reversed(paths):
            try:
                with self._root.parent(path) as (parent, name):
                    os.rmdir(name, dir_fd=parent)
            except OSError as error:
                if error.errno not in THEIRS:
                    raise
            self._point("folder removed")

    def _sync_folders(self, intent: Intent) -> None:
        folders = sorted({step.path.rpartition(b"/")[0] for step in intent.steps})
        for start in range(0, len(folders), FEW):
            with ExitStack() as opened:
                fds = []
                for path in folders[start : start + FEW]:
                    with suppress(FileNotFoundError, NotADirectoryError):  # what is not there holds no name to keep
                        fds.append(self._root.folder(path))
                        opened.callback(os.close, fds[-1])
                sync_together(fds)
        self._point("folders durable")

    def _mark(self, name: str) -> None:
        if not self._marked(name):
            os.rename(self._ready(name), os.path.join(self._path, name.encode()))
            sync_folder(self._path)
        self._point(f"{name} durable")

    def _marked(self, name: str) -> bool:
        return os.path.exists(os.path.join(self._path, name.encode()))

    def _ready(self, name: str) -> bytes:
        return os.path.join(self._path, READY + name.encode())

    def _clear(self) -> None:
        os.rename(self._path, os.path.join(self._private.path, TRASH + secrets.token_hex(4).encode()))
        self._point("stage set aside")
        self._empty_trash()

    def _empty_trash(self) -> None:
        fd = os.open(self._private.path, FOLDER)
        try:
            for name in os.listdir(fd):
                if os.fsencode(name).startswith(TRASH):
                    remove(fd, os.fsencode(name))
                    self._point("stage removed")
        finally:
            os.close(fd)


def _moved(changed: Changed) -> str:
    return f"{changed} was changed by somebody else"
