"""Somebody's commits, only read: which there are, what each changed, and the files of one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from referee.adapters.git.git import Git
from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import FileContent
from referee.domain.value import Value

_REGULAR, _EXECUTABLE = "100644", "100755"


class CommitFacts(Value):
    """A commit with one parent; `date` is its author's day, `subject` the first line of its message."""

    commit: str
    parent: str
    date: str
    subject: str


class Commits:
    """The history of the repository in a folder. Raises `UsageError` if there is none."""

    def __init__(self, path: str) -> None:
        self._git, self._path = Git(), os.path.abspath(path)
        inside = os.path.join(self._path, ".git")
        self._folder = inside if os.path.lexists(inside) else self._path  # a bare copy is its own
        if self._ask("rev-parse", "--git-dir") is None:
            raise UsageError(f"{path} is no git repository; give the path of a clone")

    def facts(self, commit: str) -> CommitFacts:
        """What is known of one commit. Raises `UsageError` if it is not there or has not exactly one parent."""
        found = next(self._listed("--max-count=1", commit), None)
        if found is None:
            raise UsageError(f"{self._path} has no commit {commit} with one parent")
        return found

    def recent(self, most: int) -> Iterator[CommitFacts]:
        """The newest `most` commits reachable from HEAD, without merges."""
        return self._listed(f"--max-count={most}", "--no-merges", "HEAD")

    def changed(self, facts: CommitFacts) -> tuple[str, ...]:
        """The paths in which a commit differs from its parent, sorted."""
        out = self._must("diff-tree", "-r", "-z", "--no-renames", "--name-only", facts.parent, facts.commit)
        return tuple(sorted(p.decode("utf-8", "surrogateescape") for p in out.split(b"\0") if p))

    def tree(self, commit: str) -> Mapping[str, FileContent]:
        """The regular files of a commit, by path; symlinks and submodules are left out."""
        listed = []
        for line in self._must("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, _, oid = facts.decode().split(" ")
            if mode in (_REGULAR, _EXECUTABLE):
                listed.append((name.decode("utf-8", "surrogateescape"), mode, oid))
        out = self._must("cat-file", "--batch", stdin="".join(f"{oid}\n" for _, _, oid in listed).encode())
        found, at = {}, 0
        for path, mode, _ in listed:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[2])
            found[path] = FileContent(data=out[end + 1 : end + 1 + size], executable=mode == _EXECUTABLE)
            at = end + 1 + size + 1
        return found

    def _listed(self, *which: str) -> Iterator[CommitFacts]:
        out = self._ask("rev-list", "--no-commit-header", "--format=%H%x00%P%x00%as%x00%s", *which, "--")
        for line in (out or b"").decode("utf-8", "replace").splitlines():
            commit, parents, date, subject = line.split("\0")
            if parents and " " not in parents:
                yield CommitFacts(commit=commit, parent=parents, date=date, subject=subject)

    def _must(self, *args: str, stdin: bytes = b"") -> bytes:
        out = self._ask(*args, stdin=stdin)
        if out is None:
            raise WorldFault(f"git {args[0]} failed in {self._path}: the history is damaged or not there in full")
        return out

    def _ask(self, *args: str, stdin: bytes = b"") -> bytes | None:
        variables = {"GIT_DIR": self._folder, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        said = self._git.run(*args, variables=variables, cwd=os.fsencode(self._path), stdin=stdin)
        return None if said.code else said.out
