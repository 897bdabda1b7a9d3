"""The user's commits and branches: read at will, written only where a commit or a branch was asked for."""

from __future__ import annotations

from referee.adapters.git.entry import Entry
from referee.adapters.git.git import Finished, Git
from referee.adapters.git.names import shown
from referee.adapters.git.repository import Repository
from referee.domain.errors import WorldFault

HEADS = "refs/heads/"
# What is committed must outlive a power cut, or the branch would name a commit that is not there.
DURABLE = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsync",
    "GIT_CONFIG_VALUE_0": "all",
    "GIT_CONFIG_KEY_1": "i18n.commitEncoding",
    "GIT_CONFIG_VALUE_1": "UTF-8",
}


class History:
    """The commits, branches and settings of a user's repository. No hook, filter or other program of theirs is run."""

    def __init__(self, git: Git, repository: Repository) -> None:
        self._git = git
        self._repository = repository
        self.root = repository.root
        self.folder = repository.folder

    def settings(self) -> dict[str, tuple[str, ...]]:
        """All settings that hold here, by lower-case key."""
        return self._git.settings(self.folder)

    def identity(self) -> dict[str, str]:
        """Who the author and the committer of a commit are, as GIT_* variables; those that nobody told are missing."""
        settings = self.settings()
        found: dict[str, str] = {}
        for role in ("author", "committer"):
            for part in ("name", "email"):
                variable = f"GIT_{role}_{part}".upper()
                told = (
                    self._git.person.get(variable),
                    *(s[-1] for k in (role, "user") if (s := settings.get(f"{k}.{part}"))),
                )
                value = next((t for t in told if t and t.strip()), None)
                if value:
                    found[variable] = value
        return found

    def head(self) -> str:
        """The commit HEAD names; empty if there is none yet."""
        return self._repository.head()

    def branch(self) -> str:
        """The full name of the branch HEAD is on; empty if it is detached."""
        said = self.ask("symbolic-ref", "--quiet", "HEAD")
        return said.out.decode("utf-8", "surrogateescape").strip() if said.code == 0 else ""

    def commit_at(self, ref: str) -> str:
        """The object a ref names; empty if there is no such ref."""
        said = self.ask("rev-parse", "--verify", "--quiet", ref)
        return said.out.decode().strip() if said.code == 0 else ""

    def reaches(self, ref: str, commit: str) -> bool:
        """Whether a ref names a commit or one that builds on it."""
        return self.ask("merge-base", "--is-ancestor", commit, ref).code == 0

    def move(self, ref: str, new: str, old: str, why: str) -> bool:
        """Set `ref` from `old` to `new` (empty: from or to nothing), if it still is at `old`. False if it is not."""
        nothing = "0" * len(old or new)
        if new:
            said = self.ask("update-ref", "-m", why, "--no-deref", ref, new, old or nothing, as_person=True)
        else:
            said = self.ask("update-ref", "-d", "--no-deref", ref, old, as_person=True)
        if said.code == 0:
            return True
        if self.commit_at(ref) != old:
            return False
        raise WorldFault(f"git could not set {ref}: {said.words}")

    def entry(self, commit: str, path: bytes) -> Entry | None:
        """What stands at `path` in a commit."""
        out = self.must("ls-tree", "-z", "--full-tree", commit, b"--", path)
        for line in out.split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            if name == path:
                mode, _, oid = facts.decode().split(" ")
                return Entry(mode, oid)
        return None

    def store(self, data: bytes, path: bytes | None) -> str:
        """Keep a content in the user's store, as `git add` would keep it at `path` (None: as it is); its name."""
        how = ("--no-filters",) if path is None else ("--path", path)
        return self.must("hash-object", "-w", "--stdin", *how, stdin=data).decode().strip()

    def content(self, oid: str) -> bytes:
        """The bytes of an object in the user's store."""
        return self.must("cat-file", "blob", oid)

    def must(self, *args: str | bytes, stdin: bytes = b"", index: bytes = b"", as_person: bool = False) -> bytes:
        """What git says. Raises `WorldFault` with its words if it fails."""
        said = self.ask(*args, stdin=stdin, index=index, as_person=as_person)
        if said.code:
            raise WorldFault(f"git {args[0]!s} failed in {shown(self.root)}: {said.words}")
        return said.out

    def ask(self, *args: str | bytes, stdin: bytes = b"", index: bytes = b"", as_person: bool = False) -> Finished:
        """Run git on the user's repository, whatever comes of it; `as_person` in the person's name, not ours."""
        variables: dict[str, bytes | str] = {"GIT_DIR": self.folder, "GIT_WORK_TREE": self.root, **DURABLE}
        if index:
            variables["GIT_INDEX_FILE"] = index
        if as_person:
            variables |= self.identity()
        return self._git.run(*args, variables=variables, cwd=self.root, stdin=stdin)
