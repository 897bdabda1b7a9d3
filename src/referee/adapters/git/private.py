"""The private store: `.harness/` at the repository's root, invisible to git and closed to other users."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from referee.adapters.git.git import Git
from referee.adapters.git.names import shown
from referee.adapters.git.repository import Repository
from referee.adapters.git.root import write_all
from referee.adapters.sync import sync_folder
from referee.domain.errors import UsageError, WorldFault

# Contents are raw bytes: no line ending, filter, keyword or encoding of the user's attributes is applied.
ATTRIBUTES = b"* -text -crlf !eol -ident -filter !working-tree-encoding !diff !merge\n"
CONFIG = """\
[core]
\trepositoryFormatVersion = {version}
\tbare = false
\tfileMode = true
\tsymlinks = true
\tautocrlf = false
\tignoreCase = false
\tprecomposeUnicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tlooseCompression = 1
\tlogAllRefUpdates = false
\tsplitIndex = false
\tuntrackedCache = false
[checkout]
\tworkers = 0
"""
_STRANGERS = frozenset((b"commondir", b"config.worktree", b"gitdir", b"alternates", b"http-alternates", b"grafts"))
FULL_SIGNS = ("No space left", "Out of diskspace", "Disk quota exceeded", "File too large")  # git's words
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Private:
    """Where the project keeps what is its own: a bare git folder, bases, snapshots, staged landings."""

    def __init__(self, git: Git, repository: Repository) -> None:
        self._git = git
        self._repository = repository
        self.path = os.path.join(repository.root, b".harness")
        self.objects = os.path.join(self.folder, b"objects")

    @property
    def folder(self) -> bytes:
        """The private git folder."""
        return os.path.join(self.path, b"git")

    def prepare(self) -> None:
        """Create what is missing. Raises `UsageError` if the repository's folder cannot be written."""
        self._repository.check_own_folder()
        try:
            _own_folder(self.path)
            for folder in (self.path, self.folder, self.objects):
                _no_strangers(folder)
                _no_strangers(os.path.join(folder, b"info"))
            _once(os.path.join(self.path, b".gitignore"), b"*\n")
            for name in (b"base", b"snapshots"):
                os.makedirs(os.path.join(self.path, name), mode=0o700, exist_ok=True)
            if os.path.exists(os.path.join(self.folder, b"config")):
                self._configure()
            else:
                self._create()
        except OSError as error:
            raise refused(error, self.path) from error

    def variables(
        self, *, index: bytes = b"", work_tree: bytes = b"", read_user: bool = True
    ) -> dict[str, bytes | str]:
        """What tells git to use the private store; with `read_user` the user's objects can be read through it.

        Without, git would refresh the times of the user's object files when it meets an object to write.
        """
        chosen: dict[str, bytes | str] = {
            "GIT_DIR": self.folder,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        if read_user:
            chosen["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(self._repository.objects)
        if index:
            chosen["GIT_INDEX_FILE"] = index
        if work_tree:
            chosen["GIT_WORK_TREE"] = work_tree
        return chosen

    def git(
        self, *args: str | bytes, stdin: bytes = b"", index: bytes = b"", work_tree: bytes = b"", read_user: bool = True
    ) -> bytes:
        """Run git on the private store. Raises `WorldFault` with git's words if it fails."""
        variables = self.variables(index=index, work_tree=work_tree, read_user=read_user)
        said = self._git.run(*args, variables=variables, cwd=work_tree or self.folder, stdin=stdin, umask=0o022)
        if said.code:
            full = "the disk is full: " if any(sign in said.words for sign in FULL_SIGNS) else ""
            words = said.words or f"exit code {said.code}"
            raise WorldFault(f"{full}git {args[0]!s} failed in {shown(self.path)}: {words}")
        return said.out

    @contextmanager
    def locked(self, name: bytes) -> Iterator[None]:
        """Hold a lock of the private store; it is released even if this process is killed."""
        fd = os.open(os.path.join(self.path, name + b".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _create(self) -> None:
        wanted = f"--object-format={self._repository.algorithm}"
        said = self._git.run(
            "init", "--quiet", "--bare", "--template=", wanted, self.folder, variables={}, cwd=self.path
        )
        if said.code:
            raise WorldFault(f"git init failed in {shown(self.path)}: {said.words}")
        self._configure()

    def _configure(self) -> None:
        """Our own configuration and nobody else's: both files can name programs that git would run."""
        config = CONFIG.format(version=0)
        if self._repository.algorithm != "sha1":
            algorithm = self._repository.algorithm
            config = CONFIG.format(version=1) + f"[extensions]\n\tobjectFormat = {algorithm}\n"
        os.makedirs(os.path.join(self.folder, b"info"), exist_ok=True)
        _exactly(os.path.join(self.folder, b"info", b"attributes"), ATTRIBUTES)
        _exactly(os.path.join(self.folder, b"config"), config.encode())


def replace(path: bytes, data: bytes, *, durable: bool = True) -> None:
    """Write a file of ours so that it is there whole or not at all; if `durable`, also after a power loss."""
    partial = path + b".partial-%d" % os.getpid()
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        write_all(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(partial, path)
    if durable:
        sync_folder(os.path.dirname(path))


def refused(error: OSError, path: bytes) -> UsageError | WorldFault:
    """The failure to write at `path`, said to whoever can act."""
    why = os.strerror(error.errno or 0)
    if error.errno in FULL:
        return WorldFault(f"the disk is full ({why}) at {shown(path)}; free some space and run it again")
    if error.errno == errno.EROFS:
        return WorldFault(f"{shown(path)} cannot be written ({why}); mount it writable, or work on a copy")
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return WorldFault(f"{shown(path)}: {why}; close something, or raise the limit with ulimit -n")
    if error.errno in (errno.EACCES, errno.EPERM):
        return UsageError(f"{shown(path)} cannot be written ({why}); make it writable, or run on a copy")
    return WorldFault(f"{shown(path)}: {why}")


def _own_folder(path: bytes) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        facts = os.lstat(path)
        if not stat.S_ISDIR(facts.st_mode):
            raise UsageError(f"{shown(path)} is not a folder; move it away: the record of runs is kept there") from None
        if facts.st_mode & 0o077:
            os.chmod(path, 0o700)


def _once(path: bytes, data: bytes) -> None:
    if not os.path.exists(path):
        replace(path, data)


def _exactly(path: bytes, data: bytes) -> None:
    with suppress(FileNotFoundError), open(path, "rb") as file:
        if file.read(len(data) + 1) == data:
            return
    replace(path, data)


def _no_strangers(folder: bytes) -> None:
    """Raises `UsageError` for a symbolic link, or a file by which git would read or write somewhere else."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_symlink() or os.path.basename(entry.path) in _STRANGERS:
            raise UsageError(f"{shown(entry.path)} is not ours and leads elsewhere; delete the folder .harness")


def _quoted(path: bytes) -> bytes:
    """A path as GIT_ALTERNATE_OBJECT_DIRECTORIES wants it, where ':' separates and '"' opens a C string."""
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
