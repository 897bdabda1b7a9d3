"""The user's repository, read only: where it is, what state it is in, which files belong to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from time import sleep

from referee.adapters.git.git import Finished, Git
from referee.adapters.git.names import shown
from referee.adapters.git.rules import rules
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value

# What git leaves in its folder while an operation waits for the user.
UNFINISHED = {
    b"MERGE_HEAD": ("merge", "git merge --continue, or git merge --abort"),
    b"rebase-merge": ("rebase", "git rebase --continue, or git rebase --abort"),
    b"rebase-apply": ("rebase or am", "git rebase --continue (or --abort), or git am --abort"),
    b"CHERRY_PICK_HEAD": ("cherry-pick", "git cherry-pick --continue, or git cherry-pick --abort"),
    b"REVERT_HEAD": ("revert", "git revert --continue, or git revert --abort"),
}
GITLINK = b"160000"
LINK_BYTES = 8192
LOCK_TRIES, LOCK_SECONDS = 40, 0.05


class Listing(Value):
    """The files that belong to a repository: staged ones and untracked ones that are not ignored.

    `digest` names the staged state; `nested` are the repositories inside, whose files are listed too; `linked` says
    that entries are links to other repositories, which may be nested here at any time (submodules).
    """

    staged: tuple[bytes, ...]
    untracked: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    linked: bool
    digest: str


class Repository:
    """A repository of the user's. Nothing here writes to it or runs a program it names."""

    def __init__(self, git: Git, root: bytes, folder: bytes, objects: bytes, algorithm: str) -> None:
        self.root = root
        self.folder = folder
        self.objects = objects
        self.algorithm = algorithm
        self._git = git

    @classmethod
    def discover(cls, git: Git, path: bytes) -> Repository:
        """The repository that `path` (a folder, or one below it) belongs to. Raises `UsageError` if there is none."""
        if not os.path.isdir(path):
            raise UsageError(f"{shown(path)} is not a folder; name the repository's folder")
        asked = ("--is-bare-repository", "--is-inside-git-dir", "--show-object-format", "--absolute-git-dir")
        said = git.run(
            "rev-parse",
            "--path-format=absolute",
            *asked,
            "--git-path",
            "objects",
            "--show-toplevel",
            variables={},
            cwd=path,
        )
        lines = said.out.split(b"\n")
        if lines[0] == b"true":
            raise UsageError(f"{shown(path)} is a bare repository; name a clone that has a work tree")
        if lines[1:2] == [b"true"]:
            raise UsageError(f"{shown(path)} is inside a .git folder; name the folder that holds the project's files")
        if said.code or len(lines) != 7:
            raise UsageError(_unusable(path, said))
        algorithm, folder, objects, root = lines[2], lines[3], lines[4], lines[5]
        if not _holds(root, folder):
            raise UsageError(
                f"{shown(folder)} says that the files are in {shown(root)}, which is not where it is (core.worktree); "
                "name a folder whose .git is its own"
            )
        return cls(git, os.path.realpath(root), folder, objects, algorithm.decode())

    def head(self) -> str:
        """The commit HEAD names; empty if there is none yet."""
        said = self._ask("rev-parse", "--verify", "--quiet", "HEAD")
        return said.out.decode().strip() if said.code == 0 else ""

    def tags(self) -> tuple[bytes, ...]:
        """The names of the tags at HEAD."""
        said = self._ask("for-each-ref", "--points-at=HEAD", "--format=%(refname:strip=2)", "refs/tags")
        return tuple(said.out.splitlines()) if said.code == 0 else ()  # no commit yet: nothing points at it

    def check_quiet(self) -> None:
        """Raises `UsageError` if a git operation is unfinished, or a git command keeps running for two seconds."""
        for name, (operation, command) in UNFINISHED.items():
            if os.path.lexists(os.path.join(self.folder, name)):
                raise UsageError(f"a {operation} is in progress; finish it first: {command}")
        lock = os.path.join(self.folder, b"index.lock")
        for _ in range(LOCK_TRIES):
            if not os.path.lexists(lock):
                return
            sleep(LOCK_SECONDS)
        if os.path.lexists(lock):
            raise UsageError(
                f"another git command is running here; wait for it (or, if none runs, delete {shown(lock)})"
            )

    def listing(self) -> Listing:
        """All files of the repository and of those nested in it. Raises `UsageError` for unmerged files."""
        said = self._must("ls-files", "-z", "-s", "-v")
        staged, links = _staged(said.out)
        untracked: list[bytes] = []
        nested = [path for path in links if os.path.lexists(os.path.join(self.root, path, b".git"))]
        for path in self.others():
            (nested if path.endswith(b"/") else untracked).append(path.rstrip(b"/"))
        staged, untracked = [[p for p in some if not _ours(p)] for some in (staged, untracked)]
        found = list(nested)
        for path in nested:
            inner = self._nested(path).listing()
            staged += [path + b"/" + p for p in inner.staged]
            untracked += [path + b"/" + p for p in inner.untracked]
            found += [path + b"/" + p for p in inner.nested]
        digest = hashlib.sha256(said.out).hexdigest()
        return Listing(
            staged=tuple(staged),
            untracked=tuple(untracked),
            nested=tuple(sorted(found)),
            linked=bool(links),
            digest=digest,
        )

    def check_own_folder(self) -> None:
        """Raises `UsageError` if our folder came with the repository: what is in it would be believed and acted on."""
        if self._must("ls-files", "-z", "--", ".harness", ".harness/").out:
            raise UsageError(
                ".harness is among the repository's files, so its records are not this machine's; remove it: "
                "git rm -r -q --cached .harness, then delete the folder"
            )

    def digest(self) -> str:
        """The digest of a listing."""
        return hashlib.sha256(self._must("ls-files", "-z", "-s", "-v").out).hexdigest()

    def others(self) -> Sequence[bytes]:
        """Untracked files that are not ignored; a nested repository ends in a slash."""
        return _names(self._must("ls-files", "-z", "-o", "--exclude-standard").out)

    def names(self) -> Sequence[bytes]:
        """Every file that is tracked or not ignored, as they are now; of nested repositories only the folder."""
        said = self._ask("ls-files", "-z", "-c", "-o", "--exclude-standard")
        if said.code:
            raise WorldFault(f"git ls-files failed in {shown(self.root)}: {said.words}")
        return _names(said.out)

    def ignored(self, *within: bytes) -> tuple[bytes, ...]:
        """Ignored files; a wholly ignored folder stands for its files, with a slash at its end, unless it is named."""
        whole: tuple[str | bytes, ...] = ("--", *within) if within else ("--directory",)
        said = self._ask("ls-files", "-z", "-o", "-i", "--exclude-standard", *whole)
        if said.code:
            raise WorldFault(f"git ls-files failed in {shown(self.root)}: {said.words}")
        # What git says of folders it may not read is no matter here: nothing is promised about ignored files.
        return tuple(p for p in _names(said.out) if not _ours(p))

    def loose(self) -> tuple[bytes, ...] | None:
        """What is not tracked, ignored or not; a folder without tracked files stands for its own. None if git warns.

        One look instead of two (`others`, `ignored`): as long as this and the rules stay the same, so do both of those
        lists, if every folder in it is ignored by its name.
        """
        said = self._ask("ls-files", "-z", "-o", "--directory", "--no-empty-directory")
        return None if said.code or said.words else tuple(p for p in _names(said.out) if not _ours(p))

    def rules(self) -> str:
        """A digest of what decides, beside `.gitignore` files, what is ignored; empty if it cannot be told."""
        return rules(self._git, self.root, self.folder)

    def ignores(self, paths: Sequence[bytes]) -> bool:
        """Whether the rules name every one of these paths, or a folder above it."""
        said = self._ask("check-ignore", "-z", "--stdin", stdin=b"".join(p + b"\0" for p in paths)) if paths else None
        return said is None or (not said.words and set(_names(said.out)) == set(paths))

    def _nested(self, path: bytes) -> Repository:
        root = os.path.join(self.root, path)
        inner = Repository(self._git, root, os.path.join(root, b".git"), self.objects, self.algorithm)
        said = inner._ask("rev-parse", "--absolute-git-dir")
        if said.code:
            raise UsageError(
                f"the nested repository {shown(path)} cannot be read ({said.words}); "
                f"repair it, or add {shown(path)}/ to .gitignore"
            )
        return inner

    def _must(self, *args: str) -> Finished:
        said = self._ask(*args)
        if said.code:
            raise WorldFault(f"git {args[0]} failed in {shown(self.root)}: {said.words}")
        if said.words:
            # A folder or an ignore file that git could not read: what belongs to the repository is unknown (case A10).
            raise UsageError(f"git cannot list the files of {shown(self.root)}: {said.words}")
        return said

    def _ask(self, *args: str | bytes, stdin: bytes = b"") -> Finished:
        variables = {"GIT_DIR": self.folder, "GIT_WORK_TREE": self.root}
        return self._git.run(*args, variables=variables, cwd=self.root, stdin=stdin)


def _staged(out: bytes) -> tuple[list[bytes], list[bytes]]:
    """Files and links to other repositories in `ls-files -s -v` output."""
    files: list[bytes] = []
    links: list[bytes] = []
    for line in _names(out):
        facts, _, path = line.partition(b"\t")
        _, mode, _, stage = facts.split(b" ")
        if stage != b"0":
            raise UsageError(f"{shown(path)} has unresolved merge conflicts; resolve them and git add it first")
        (links if mode == GITLINK else files).append(path)
    return files, links


def _holds(root: bytes, folder: bytes) -> bool:
    """Whether the `.git` of a work tree is this git folder: a configuration may point to any other files instead."""
    here = os.path.join(root, b".git")
    if os.path.isfile(here):
        with open(here, "rb") as file:
            here = os.path.join(root, file.read(LINK_BYTES).removeprefix(b"gitdir:").strip(b" \n"))
    return os.path.realpath(here) == os.path.realpath(folder)


def _names(out: bytes) -> Sequence[bytes]:
    return out.split(b"\0")[:-1]


def _ours(path: bytes) -> bool:
    return path == b".harness" or path.startswith(b".harness/")


def _unusable(path: bytes, said: Finished) -> str:
    if "not a git repository" in said.words:
        return f"{shown(path)} is not in a git repository; run git init there, or name another folder"
    return f"git cannot use {shown(path)}: {said.words or 'its path has a line break; move it'}"
