"""Taking a snapshot: the tree of what is on disk, built in a private index from explicit lists of files."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterable, Sequence

from referee.adapters.git import ignored
from referee.adapters.git.entry import Entry
from referee.adapters.git.names import decode, parents, shown
from referee.adapters.git.private import Private, replace
from referee.adapters.git.repository import Listing, Repository
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value

# Untracked files of these names stay on the user's disk: no copy of them is stored or mounted.
SECRETS = (
    ".env*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "*.pem", "*.key", "*.p12",
    "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    "credentials", "credentials.*", "secrets", "secrets.*", "*service-account*.json", "*service_account*.json",
    *(f"*{folder}/*" for folder in (".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud")),
)  # fmt: skip
UNTRACKED_BYTES = 64 << 20
_MARK = b"pyvenv.cfg"  # at the top of every Python environment (PEP 405)
EXTRA_BYTES = 512 << 20  # of all extra files together
NAMED = 20  # ignored secrets that are named one by one


class Taken(Value):
    """A tree and what was left out of it, each with the reason."""

    tree: str
    omitted: tuple[tuple[bytes, str], ...]


class Camera:
    """Makes trees of the user's files. `extra` are patterns of ignored files to bring along (built extensions)."""

    def __init__(self, repository: Repository, private: Private, extra: Sequence[str]) -> None:
        self._repository = repository
        self._private = private
        self._extra = tuple(extra)

    def take(self, listing: Listing) -> Taken:
        """The tree of the listed files as they are on disk. Raises `UsageError` for a file that cannot be read."""
        with self._private.locked(b"snapshot"):
            return self._take(listing)

    def forget(self) -> None:
        """Check at the next snapshot that all contents are stored: something is about to remove some."""
        _discard(os.path.join(self._private.folder, b"kept"))

    def _take(self, listing: Listing) -> Taken:
        survey = Survey(self._repository.root)
        survey.add(listing.staged)
        environments = _environments(listing.untracked)
        own = [p for p in listing.untracked if not any(p.startswith(e) for e in environments)]
        survey.add(p for p in own if not survey.secret(p))
        self._bring_along(survey, listing.staged)
        index = os.path.join(self._private.folder, b"snapshot.index")
        _discard(index + b".lock")  # ours alone, under our lock: only a kill can have left it
        self._update(index, survey.found)
        found = set(survey.found)
        recorded = set(self._run("ls-files", "-z", index=index).split(b"\0")[:-1])
        if recorded - found:
            self._run("update-index", "-z", "--force-remove", "--stdin", stdin=_lines(recorded - found), index=index)
        for path in found - recorded:
            raise UsageError(f"{shown(path)} vanished while the snapshot was taken; stop what changes it and try again")
        tree = self._run("write-tree", "--missing-ok", index=index).decode().strip()
        self._keep(index, tree)
        return Taken(tree=tree, omitted=tuple(survey.omitted))

    def _bring_along(self, survey: Survey, tracked: Sequence[bytes]) -> None:
        """Ignored files that the user names, or that the project's code needs to be imported."""
        listed = self._repository.ignored()
        within = ignored.folders(listed, tracked)
        found = [p for p in (*listed, *(self._repository.ignored(*within) if within else ())) if not p.endswith(b"/")]
        named = _any_of(self._extra) if self._extra else None
        asked = {p for p in found if named and named.match(decode(p))}
        hidden = {p for p in found if _SECRET.match(decode(p.lower()))}
        survey.omitted += [(p, "looks like a secret") for p in sorted(hidden)[:NAMED] if p not in asked]
        along = ignored.choose(self._repository.root, (p for p in found if p not in asked and p not in hidden), tracked)
        survey.omitted += along.left
        survey.add_extra([*sorted(asked), *along.wanted])

    def _update(self, index: bytes, paths: Sequence[bytes]) -> None:
        options = ("--info-only", "--add", "--remove", "--replace", "-z", "--stdin")
        try:
            self._run("update-index", *options, stdin=_lines(paths), index=index)
        except WorldFault:
            self._explain(paths)
            _discard(index)  # it is only a cache, and it may be what is damaged
            self._run("update-index", *options, stdin=_lines(paths), index=index)

    def _explain(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            whole = os.path.join(self._repository.root, path)
            if not os.path.islink(whole) and os.path.isfile(whole) and not os.access(whole, os.R_OK):
                raise UsageError(f"{shown(path)} cannot be read; make it readable (chmod u+r), or add it to .gitignore")

    def _entries(self, index: bytes) -> dict[bytes, Entry]:
        entries = {}
        for line in self._run("ls-files", "-z", "-s", index=index).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, oid, _ = facts.decode().split(" ")
            entries[path] = Entry(mode, oid)
        return entries

    def _keep(self, index: bytes, tree: str) -> None:
        """Store every content that the user's own history does not hold (the user's gc may drop the rest)."""
        head = self._repository.head()
        mark = os.path.join(self._private.folder, b"kept")
        if _read(mark) == f"{head} {tree}".encode():
            return  # what HEAD reaches is safe from the user's gc, and the rest was stored then
        entries = self._entries(index)
        committed = set(self._committed(head)) if head else set()
        absent = self._absent({e.oid for e in entries.values()}, read_user=True)
        loose = {e.oid for e in entries.values()} - committed - absent
        absent |= self._absent(loose, read_user=False)
        self._store({path: entry for path, entry in entries.items() if entry.oid in absent})
        if self._absent(absent, read_user=False):
            raise WorldFault("the snapshot is not complete: some contents could not be stored; try again")
        replace(mark, f"{head} {tree}".encode(), durable=False)

    def _store(self, entries: dict[bytes, Entry]) -> None:
        index = os.path.join(self._private.folder, b"store.index")
        for left in (index, index + b".lock"):
            _discard(left)
        if entries:
            self._run("update-index", "--add", "-z", "--stdin", stdin=_lines(entries), index=index)
            if self._entries(index) != entries:
                raise UsageError("files changed while the snapshot was taken; stop what changes them and try again")
            _discard(index)

    def _committed(self, head: str) -> Iterable[str]:
        for line in self._private.git("ls-tree", "-r", "-z", "--full-tree", head).split(b"\0")[:-1]:
            yield line.partition(b"\t")[0].rpartition(b" ")[2].decode()

    def _absent(self, oids: set[str], *, read_user: bool) -> set[str]:
        if not oids:
            return set()
        asked = "\n".join(sorted(oids)).encode() + b"\n"
        said = self._private.git("cat-file", "--batch-check", "--buffer", stdin=asked, read_user=read_user)
        return {line.split()[0].decode() for line in said.splitlines() if line.endswith(b" missing")}

    def _run(self, *args: str, stdin: bytes = b"", index: bytes) -> bytes:
        root = self._repository.root
        return self._private.git(*args, stdin=stdin, index=index, work_tree=root, read_user=False)


class Survey:
    """Which of the listed files are there to be recorded; the others by name, with the reason."""

    def __init__(self, root: bytes) -> None:
        self.found: list[bytes] = []
        self.omitted: list[tuple[bytes, str]] = []
        self._root = root
        self._folders: dict[bytes, bool] = {}

    def add(self, paths: Iterable[bytes]) -> None:
        """Record files and symlinks. What is missing, or behind a symlink, is not there."""
        for path in paths:
            facts = self._facts(path)
            if facts is not None and self._storable(path, facts):
                self.found.append(path)

    def add_extra(self, paths: Iterable[bytes]) -> None:
        """Record ignored files up to a total size."""
        room = EXTRA_BYTES
        for path in paths:
            facts = self._facts(path)
            if facts is None or not stat.S_ISREG(facts.st_mode) or self.secret(path):
                continue
            if facts.st_size > min(room, UNTRACKED_BYTES):
                self.omitted.append((path, "ignored and too large"))
                continue
            room -= facts.st_size
            self.found.append(path)

    def secret(self, path: bytes) -> bool:
        """Whether an untracked file must not be copied; it is noted as left out."""
        hidden = bool(_SECRET.match(decode(path.lower())))
        if hidden:
            self.omitted.append((path, "looks like a secret"))
        return hidden or self._large(path)

    def _large(self, path: bytes) -> bool:
        facts = self._facts(path)
        large = facts is not None and facts.st_size > UNTRACKED_BYTES
        if large:
            self.omitted.append((path, f"untracked and larger than {UNTRACKED_BYTES >> 20} MiB"))
        return large

    def _storable(self, path: bytes, facts: os.stat_result) -> bool:
        kind = stat.S_IFMT(facts.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR):
            self.omitted.append((path, "neither a file, a folder nor a symlink"))
        return kind in (stat.S_IFREG, stat.S_IFLNK)

    def _facts(self, path: bytes) -> os.stat_result | None:
        if not self._inside(path.rpartition(b"/")[0]):
            return None
        try:
            return os.lstat(self._root + b"/" + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise UsageError(f"{shown(path)} cannot be reached; make its folder readable (chmod u+rx)") from error

    def _inside(self, folder: bytes) -> bool:
        if not folder:
            return True
        known = self._folders.get(folder)
        if known is None:
            known = all(_is_folder(self._root + b"/" + p) for p in (*parents(folder), folder))
            self._folders[folder] = known
        return known


def _is_folder(path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for shell patterns; those with a slash match whole paths, the others names."""
    return re.compile("|".join(("" if "/" in p else "(?:.*/)?") + fnmatch.translate(p) for p in patterns), re.DOTALL)


_SECRET = _any_of(SECRETS)


def _lines(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _discard(path: bytes) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _environments(untracked: Sequence[bytes]) -> tuple[bytes, ...]:
    """The folders of Python environments that git does not ignore: they are shown to tests as they are, not copied."""
    return tuple(p[: -len(_MARK)] for p in untracked if p.endswith(b"/" + _MARK))
