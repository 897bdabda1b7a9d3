"""A repository in memory: trees are dictionaries, and the user's files are one more of them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileContent, Patch
from referee.ports import Base, Landing, Restoration, Snapshot

Tree = dict[str, FileContent]


class FakeWorkspace:
    """`files` is what the user sees; change it between calls to play a user who edits during a run."""

    def __init__(self, files: Mapping[str, bytes], root: str = "/repo") -> None:
        self._root = root
        self.files: Tree = {p: FileContent(data=d) for p, d in files.items()}
        self._trees: dict[str, Tree] = {}
        self._landed: dict[str, tuple[Tree, Tree]] = {}

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
        return Snapshot(tree=self._keep(self.files), root=self._root)

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

    def landed(self, run_id: str) -> Landing | None:
        """The run's landing, if it happened."""
        if run_id not in self._landed:
            return None
        a, b = self._landed[run_id]
        return Landing(how="tree", written=tuple(sorted(a.keys() | b.keys())))

    def rollback(self, run_id: str) -> Restoration:
        """Three states: ours goes back, the old stays, anything else is kept."""
        before, after = self._landed.pop(run_id, ({}, {}))
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
