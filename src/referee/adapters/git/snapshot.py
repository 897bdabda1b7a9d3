"""Taking a snapshot: the tree of what is on disk, built in a private index from explicit lists of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from referee.adapters.git import ignored, recent
from referee.adapters.git.keep import Keeper, discard, lines
from referee.adapters.git.names import decode, shown
from referee.adapters.git.private import Private
from referee.adapters.git.recent import Recent
from referee.adapters.git.repository import Repository
from referee.adapters.git.survey import LOOKS_SECRET, SECRET, Survey, any_of
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value

LASTING = (SECRET, ignored.WHY)  # reasons that lie in a file's name
NAMED = 20  # ignored secrets that are named one by one
_MARK = b"pyvenv.cfg"  # at the top of every Python environment (PEP 405)


class Taken(Value):
    """A tree and what was left out of it, each with the reason; the user's HEAD and a digest of the user's index."""

    tree: str
    omitted: tuple[tuple[bytes, str], ...]
    head: str = ""
    digest: str = ""


class Look(NamedTuple):
    """Names of what git does not track, and what to remember of them as `Recent.loose`."""

    names: frozenset[bytes]
    loose: str


class Camera:
    """Makes trees of the user's files. `extra` are patterns of ignored files to bring along (built extensions)."""

    def __init__(self, repository: Repository, private: Private, extra: Sequence[str]) -> None:
        self._repository = repository
        self._private = private
        self._extra = tuple(extra)
        self._keeper = Keeper(repository, private)

    def take(self) -> Taken:
        """The tree of the files as they are on disk. Raises `UsageError` for a file that cannot be read."""
        with self._private.locked(b"snapshot"):
            discard(self._index + b".lock")  # ours alone, under our lock: only a kill can have left it
            known = recent.load(self._private)
            return (self._glance(known) if known else None) or self._take()

    def forget(self) -> None:
        """Check at the next snapshot that all contents are stored: something is about to remove some."""
        self._keeper.forget()
        recent.drop(self._private)

    @property
    def _index(self) -> bytes:
        return os.path.join(self._private.folder, b"snapshot.index")

    @property
    def _users_index(self) -> bytes:
        return os.path.join(self._repository.folder, b"index")

    def _glance(self, known: Recent) -> Taken | None:
        """The tree, from what changed since the last snapshot; None if everything must be looked at."""
        if known.extra != self._extra or known.own != _state(self._index):
            return None
        index = recent.file_digest(self._users_index)
        with ThreadPoolExecutor(4, thread_name_prefix="snapshot") as pool:
            listed = pool.submit(lambda: known.digest if index == known.index else self._repository.digest())
            around, head = pool.submit(self._look_around, known), pool.submit(self._repository.head)
            stale = pool.submit(self._stale)
        look = around.result()
        if look is None or head.result() != known.head or listed.result() != known.digest:
            return None
        if any(map(_is_rule, stale.result())):
            return None
        if look.loose != known.loose:
            known = known.model_copy(update={"loose": look.loose})
            recent.save(self._private, known)
        known = known.model_copy(update={"index": index})
        survey = Survey(self._repository.root)
        survey.add(known.absent)
        if survey.found or any(survey.storable(p) for p, why in known.omitted if why not in LASTING):
            return None
        return self._retake(known, survey, stale.result(), look.names)

    def _look_around(self, known: Recent) -> Look | None:
        """What is not tracked, if that is as at the last snapshot: by one look if that is enough, else by two."""
        loose, rules = self._repository.loose(), self._repository.rules()  # first: what appears later is seen next time
        digest = "" if loose is None or not rules else recent.digest((rules.encode(), *loose))
        if known.loose:
            return Look(frozenset(loose or ()), digest) if digest == known.loose else None
        with ThreadPoolExecutor(2, thread_name_prefix="snapshot") as pool:
            others, hidden = pool.submit(self._repository.others), pool.submit(self._repository.ignored)
        if (recent.digest(others.result()), recent.digest(hidden.result())) != (known.others, known.ignored):
            return None
        return Look(frozenset(others.result()), digest if digest and self._enough(loose or ()) else "")

    def _enough(self, loose: Sequence[bytes]) -> bool:
        """Whether these names will say all: no folder among them can come to hold what is not ignored."""
        if any(_is_rule(path) for path in loose):
            return False  # only changes of those in the tree are seen
        return self._repository.ignores([path for path in loose if path.endswith(b"/")])

    def _stale(self) -> tuple[bytes, ...]:
        """The paths of the last tree whose files may have changed."""
        said = self._run("diff-files", "-z", "--name-only", "--ignore-submodules", index=self._index)
        return tuple(dict.fromkeys(said.split(b"\0")[:-1]))

    def _retake(self, known: Recent, survey: Survey, stale: Sequence[bytes], others: frozenset[bytes]) -> Taken | None:
        if not stale:
            self._keeper.keep(self._index, known.tree, known.head)
            return Taken(tree=known.tree, omitted=known.omitted, head=known.head, digest=known.digest)
        if set(known.along) & set(stale) or any(survey.secret(p) for p in stale if p in others):
            return None
        survey.add(stale)
        if survey.omitted:
            return None
        gone = [p for p in stale if p not in set(survey.found)]
        self._update(self._index, survey.found)
        if gone:
            self._run("update-index", "-z", "--force-remove", "--stdin", stdin=lines(gone), index=self._index)
        tree = self._run("write-tree", "--missing-ok", index=self._index).decode().strip()
        self._keeper.keep_more(self._index, known, survey.found, tree)
        absent = (*known.absent, *gone)
        now = known.model_copy(update={"tree": tree, "absent": absent, "own": _state(self._index)})
        recent.save(self._private, now)
        return Taken(tree=tree, omitted=known.omitted, head=known.head, digest=known.digest)

    def _take(self) -> Taken:
        recent.drop(self._private)
        before = recent.file_digest(self._users_index)
        listing = self._repository.listing()
        survey = Survey(self._repository.root)
        survey.add(listing.staged)
        environments = _environments(listing.untracked)
        own = [p for p in listing.untracked if not any(p.startswith(e) for e in environments)]
        survey.add(p for p in own if not survey.secret(p))
        hidden, whole = self._bring_along(survey, listing.staged)
        index = self._index
        self._update(index, survey.found)
        found = set(survey.found)
        recorded = set(self._run("ls-files", "-z", index=index).split(b"\0")[:-1])
        if recorded - found:
            self._run("update-index", "-z", "--force-remove", "--stdin", stdin=lines(recorded - found), index=index)
        for path in found - recorded:
            raise UsageError(f"{shown(path)} vanished while the snapshot was taken; stop what changes it and try again")
        tree = self._run("write-tree", "--missing-ok", index=index).decode().strip()
        head = self._repository.head()
        self._keeper.keep(index, tree, head)
        absent = tuple(p for p in (*listing.staged, *survey.missed) if p not in found)
        if not (listing.nested or listing.linked) and whole and len(absent) + len(survey.omitted) <= recent.MOST_AGAIN:
            seen = Recent(
                extra=self._extra, index=before, digest=listing.digest, others=recent.digest(listing.untracked),
                ignored=recent.digest(hidden), own=_state(index), tree=tree, head=head, absent=absent,
                omitted=tuple(survey.omitted),
                along=tuple(survey.along),
            )  # fmt: skip
            recent.save(self._private, seen)
        return Taken(tree=tree, omitted=tuple(survey.omitted), head=head, digest=listing.digest)

    def _bring_along(self, survey: Survey, tracked: Sequence[bytes]) -> tuple[Sequence[bytes], bool]:
        """Ignored files that the user names, or that the project's code needs to be imported.

        All that git lists, and whether that says everything: what is in a wholly ignored folder is asked for by name.
        """
        listed = self._repository.ignored()
        within = ignored.folders(listed, tracked)
        found = [p for p in (*listed, *(self._repository.ignored(*within) if within else ())) if not p.endswith(b"/")]
        named = any_of(self._extra) if self._extra else None
        asked = {p for p in found if named and named.match(decode(p))}
        hidden = {p for p in found if LOOKS_SECRET.match(decode(p.lower()))}
        survey.omitted += [(p, SECRET) for p in sorted(hidden)[:NAMED] if p not in asked]
        along = ignored.choose(self._repository.root, (p for p in found if p not in asked and p not in hidden), tracked)
        survey.omitted += along.left
        survey.add_extra([*sorted(asked), *along.wanted])
        return listed, not within

    def _update(self, index: bytes, paths: Sequence[bytes]) -> None:
        options = ("--info-only", "--add", "--remove", "--replace", "-z", "--stdin")
        try:
            self._run("update-index", *options, stdin=lines(paths), index=index)
        except WorldFault:
            self._explain(paths)
            discard(index)  # it is only a cache, and it may be what is damaged
            self._run("update-index", *options, stdin=lines(paths), index=index)

    def _explain(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            whole = os.path.join(self._repository.root, path)
            if not os.path.islink(whole) and os.path.isfile(whole) and not os.access(whole, os.R_OK):
                raise UsageError(f"{shown(path)} cannot be read; make it readable (chmod u+r), or add it to .gitignore")

    def _run(self, *args: str | bytes, stdin: bytes = b"", index: bytes) -> bytes:
        root = self._repository.root
        return self._private.git(*args, stdin=stdin, index=index, work_tree=root, read_user=False)


def _state(path: bytes) -> tuple[int, ...]:
    return recent.state(path) if os.path.exists(path) else ()


def _is_rule(path: bytes) -> bool:
    return os.path.basename(path) == b".gitignore"


def _environments(untracked: Sequence[bytes]) -> tuple[bytes, ...]:
    """The folders of Python environments that git does not ignore: they are shown to tests as they are, not copied."""
    return tuple(p[: -len(_MARK)] for p in untracked if p.endswith(b"/" + _MARK))
