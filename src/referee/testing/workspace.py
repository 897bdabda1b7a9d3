"""A repository in memory: trees are dictionaries, and the user's files are one more of them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping

from referee.domain.errors import Rejected, UsageError
from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileContent, Patch
from referee.ports import Base, Commit, Landing, Merged, Published, PullRequest, Restoration, Snapshot

Tree = dict[str, FileContent]


class FakeWorkspace:
    """`files` is what the user sees; change it between calls to play a user who edits during a run."""

    def __init__(self, files: Mapping[str, bytes], root: str = "/repo") -> None:
        self._root = root
        self.files: Tree = {p: FileContent(data=d) for p, d in files.items()}
        self._trees: dict[str, Tree] = {}
        self._landed: dict[str, tuple[Tree, Tree]] = {}
        self._committed: dict[str, Landing] = {}
        self._parents: dict[str, str] = {}
        self.lately: dict[str, tuple[int, ...]] = {}  # what the last commits changed
        self.head = "0" * 40  # the commit that HEAD names
        self.published: list[PullRequest] = []
        self.branches: dict[str, str] = {}

    @property
    def root(self) -> str:
        """Where the repository claims to be."""
        return self._root

    def _keep(self, tree: Tree) -> str:
        h = hashlib.sha256()
        for path, content in sorted(tree.items()):
            h.update(f"{path}\0{content.executable}\0".encode() + content.data + b"\0")
        self._trees[h.hexdigest()] = dict(tree)
        return h.hexdigest()

    def snapshot(self, run_id: str, *, settled: bool = True) -> Snapshot:
        """Record the files."""
        return Snapshot(tree=self._keep(self.files), root=self._root, head=self.head)

    def base(self, tree: str, protected: Callable[[str], bool]) -> Base:
        """A base with no folder behind it."""
        guarded = tuple(sorted(p for p in self._trees[tree] if protected(p)))
        return Base(tree=tree, path=f"/base/{tree}", mount_at=self._root, protected=guarded)

    def paths(self, tree: str) -> tuple[str, ...]:
        """The tree's paths."""
        return tuple(sorted(self._trees[tree]))

    def read(self, tree: str, path: str) -> bytes | None:
        """A file's bytes."""
        content = self._trees[tree].get(path)
        return None if content is None else content.data

    def executable(self, tree: str, path: str) -> bool:
        """A file's mode."""
        return path in self._trees[tree] and self._trees[tree][path].executable

    def apply(self, tree: str, patch: Patch) -> str:
        """The patched tree; all or nothing."""
        after = dict(self._trees[tree])
        for change in patch.changes:
            clash = any(change.path.startswith(p + "/") or p.startswith(change.path + "/") for p in after)
            if clash or (change.after is None and change.path not in after):
                message = f"{change.path} does not fit the tree"
                raise Rejected(
                    (Finding(kind=FindingKind.UNAPPLIABLE, check="patch", path=change.path, message=message),)
                )
            if change.after is None:
                del after[change.path]
            else:
                after[change.path] = change.after
        return self._keep(after)

    def diff(self, before: str, after: str) -> bytes:
        """A readable difference (not one that git takes)."""
        a, b = self._trees[before], self._trees[after]
        lines: list[str] = []
        for path in sorted(a.keys() | b.keys()):
            old, new = (t[path].data.decode(errors="replace").splitlines() if path in t else [] for t in (a, b))
            lines += difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
        return "".join(line + "\n" for line in lines).encode()

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """The paths in which two trees differ; a commit is taken to hold whatever it is compared with."""
        a, b = (self._trees.get(name) for name in (before, after))
        return () if a is None or b is None else tuple(p for p in sorted(a.keys() | b.keys()) if a.get(p) != b.get(p))

    def recent(self, tree: str, commits: int) -> dict[str, tuple[int, ...]]:
        """What a test says was changed lately."""
        return {p: lines for p, lines in self.lately.items() if p in self._trees[tree]}

    def land(self, run_id: str, before: str, after: str) -> Landing:
        """Compare and swap."""
        a, b = self._trees[before], self._trees[after]
        touched = [p for p in sorted(a.keys() | b.keys()) if a.get(p) != b.get(p)]
        conflicts = tuple(p for p in touched if self.files.get(p) != a.get(p))
        if conflicts:
            return Landing(how="tree", conflicts=conflicts)
        self._landed[run_id] = ({p: a[p] for p in touched if p in a}, {p: b[p] for p in touched if p in b})
        self._write(touched, b)
        return Landing(how="tree", written=tuple(touched))

    def _write(self, paths: list[str], tree: Tree) -> None:
        for path in paths:
            self.files.pop(path, None)
            if path in tree:
                self.files[path] = tree[path]

    def check_place(self, how: str) -> tuple[str, ...]:
        """Everything is possible but a branch that is there already."""
        if how.removeprefix("branch:") in self.branches:
            raise UsageError(f"there is a branch {how.removeprefix('branch:')} already")
        return ()

    def commit(self, run_id: str, before: str, after: str, commit: Commit) -> Landing:
        """Land, and remember a commit; or remember a branch."""
        if run_id in self._committed:
            return self._committed[run_id]
        revision = hashlib.sha256(f"{commit.parent} {after} {commit.message}".encode()).hexdigest()[:40]
        if commit.branch:
            how, ref = f"branch:{commit.branch}", f"refs/heads/{commit.branch}"
            if commit.branch in self.branches:
                return Landing(how=how, conflicts=(ref,))
            self.branches[commit.branch] = revision
            landing = Landing(how=how, revision=revision)
        else:
            if self.head != commit.parent:
                return Landing(how="commit", conflicts=("HEAD",))
            landing = self.land(run_id, before, after).model_copy(update={"how": "commit"})
            if landing.conflicts:
                return landing
            self._parents[run_id] = self.head
            self.head, landing = revision, landing.model_copy(update={"revision": revision})
        self._committed[run_id] = landing
        return landing

    def publish(self, request: PullRequest) -> Published:
        """Remember it; `published` counts what reached the outside."""
        self.published.append(request)
        return Published(url=f"https://forge.invalid/pull/{len(self.published)}")

    def by_hand(self, request: PullRequest) -> tuple[str, ...]:
        """One command."""
        return (f"git push origin {request.branch}",)

    def merge(self, base: str, ours: str, theirs: str) -> Merged:
        """Whole files only: what one side changed is taken, what both changed differently is a conflict."""
        a, b, c = self._trees[base], self._trees[ours], self._trees[theirs]
        changed = [p for p in sorted(a.keys() | c.keys()) if a.get(p) != c.get(p)]
        conflicts = tuple(p for p in changed if b.get(p) not in (a.get(p), c.get(p)))
        if conflicts:
            return Merged(conflicts=conflicts)
        kept = {p: d for p, d in b.items() if p not in changed}
        return Merged(tree=self._keep(kept | {p: c[p] for p in changed if p in c}))

    def landed(self, run_id: str) -> Landing | None:
        """The run's landing, if it happened."""
        if run_id in self._committed:
            return self._committed[run_id]
        if run_id not in self._landed:
            return None
        a, b = self._landed[run_id]
        return Landing(how="tree", written=tuple(sorted(a.keys() | b.keys())))

    def rollback(self, run_id: str, *, merge: bool = False) -> Restoration:
        """Three states: ours goes back, the old stays, anything else is kept (whole files cannot be merged)."""
        before, after = self._landed.pop(run_id, ({}, {}))
        done = self._committed.pop(run_id, None)
        if done is not None:
            self.branches.pop(done.how.removeprefix("branch:"), None)
            self.head = self._parents.pop(run_id, self.head)
        restored: list[str] = []
        unchanged: list[str] = []
        kept: list[str] = []
        for path in sorted(before.keys() | after.keys()):
            now = self.files.get(path)
            pile = restored if now == after.get(path) else unchanged if now == before.get(path) else kept
            pile.append(path)
        self._write(restored, before)
        return Restoration(restored=tuple(restored), unchanged=tuple(unchanged), kept=tuple(kept))

    def recover(self) -> tuple[str, ...]:
        """Nothing can be half done in memory."""
        return ()

    def close(self) -> None:
        """Nothing to close."""
