"""What a rollback does with each path of a landing."""

from __future__ import annotations

from collections.abc import Callable

from referee.adapters.git.entry import Entry, object_name
from referee.adapters.git.moves import missing_folders, unwritable
from referee.adapters.git.names import decode
from referee.adapters.git.private import Private
from referee.adapters.git.records import LandingRecord, Moved
from referee.adapters.git.root import Root
from referee.adapters.git.stage import Step, Traits
from referee.adapters.git.transaction import ROLLBACK, Intent
from referee.ports import Restoration

# What a file that somebody changed becomes with the run's part undone; None if both cannot be had, or shall not.
Blend = Callable[[Moved, Entry | None], bytes | None]


class Plan:
    """One try of a rollback: each path is old, as landed, or somebody else's by now."""

    def __init__(self, root: Root, private: Private, run_id: str, record: LandingRecord, blend: Blend) -> None:
        self._root = root
        self._blend = blend
        self._blends: set[bytes] = set()
        self._contents = {
            m.before.oid: m.content for m in record.moved if m.before is not None and m.content is not None
        }
        self._unchanged: list[str] = []
        self._kept: list[str] = []
        self._failed: dict[str, str] = {}
        steps = []
        for moved in record.moved:
            current = root.observe(moved.path)
            if current == moved.before:
                self._unchanged.append(decode(moved.path))
            elif current != moved.after and (blended := self._blended(moved, current)) is None:
                self._kept.append(decode(moved.path))
            elif current != moved.after and blended == current:
                self._unchanged.append(decode(moved.path))
            elif wrong := unwritable(root, private, moved.path) or self._damaged(moved):
                self._failed[decode(moved.path)] = wrong
            elif current != moved.after:
                self._blends.add(moved.path)
                steps.append(Step(path=moved.path, expect=current, want=blended))
            else:
                back = moved.model_dump(include=set(Traits.model_fields))
                steps.append(Step(path=moved.path, expect=moved.after, want=moved.before, **back))
        self.intent = Intent(
            kind=ROLLBACK,
            run_id=run_id,
            steps=tuple(steps),
            made=missing_folders(root, (s.path for s in steps if s.want)),
            prune=record.made,
        )

    def _blended(self, moved: Moved, current: Entry | None) -> Entry | None:
        """What the file becomes with the run's part undone and the rest kept; None if it stays as it is."""
        data = self._blend(moved, current)
        if data is None or current is None or moved.before is None or moved.after is None:
            return None
        oid = object_name(self._root.algorithm, "blob", data)
        self._contents[oid] = data
        mode = moved.before.mode if current.mode == moved.after.mode else current.mode
        return Entry(mode=mode, oid=oid)

    def content(self, oid: str) -> bytes:
        """The bytes to write: the old ones from the run's own record, or merged ones."""
        return self._contents[oid]

    def result(self) -> Restoration:
        """What the rollback did, looked up on disk once more."""
        restored: list[str] = []
        merged: list[str] = []
        for step in self.intent.steps:
            pile = merged if step.path in self._blends else restored
            back = self._root.observe(step.path) == step.want
            (pile if back else self._kept).append(decode(step.path))
        return self._restoration(tuple(restored)).model_copy(update={"merged": tuple(merged)})

    def interrupted(self) -> Restoration:
        """Somebody kept changing these files: none was restored."""
        for step in self.intent.steps:
            self._failed[decode(step.path)] = "is being changed by somebody else; roll back again when that has ended"
        return self._restoration(())

    def _restoration(self, restored: tuple[str, ...]) -> Restoration:
        return Restoration(
            restored=restored, unchanged=tuple(self._unchanged), kept=tuple(self._kept), failed=dict(self._failed)
        )

    def _damaged(self, moved: Moved) -> str | None:
        if moved.before is None:
            return None
        content = self._contents.get(moved.before.oid)
        if content is None or object_name(self._root.algorithm, "blob", content) != moved.before.oid:
            return "cannot be put back: its saved content is damaged"
        return None
