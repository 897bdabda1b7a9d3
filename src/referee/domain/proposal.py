"""What a model may answer when asked for a patch, enforced by schema (E1, E2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from referee.domain.value import Value

MAX_FILES = 12


class Edit(Value):
    """Replace `old`, which must occur exactly once in the file, by `new`."""

    old: Annotated[str, StringConstraints(min_length=1)]
    new: str


class ProposedFile(Value):
    """One file of a proposal: whole `content`, or `edits` onto what is there.

    A path that leads out is not a matter of form: `resolve` refuses it as unauthorised, so that it is counted.
    """

    path: str
    action: Literal["create", "modify", "delete"]
    content: str | None = None
    edits: tuple[Edit, ...] = ()
    rationale: Annotated[str, StringConstraints(min_length=1, max_length=400)]

    @model_validator(mode="after")
    def _one_way(self) -> ProposedFile:
        if self.action == "delete":
            if self.content is not None or self.edits:
                raise ValueError("a deletion takes neither content nor edits")
        elif (self.content is None) == (not self.edits):
            raise ValueError(f"{self.action} takes either content or edits, and exactly one of them")
        elif self.action == "create" and self.edits:
            raise ValueError("create takes content, not edits")
        return self


class PatchProposal(Value):
    """A proposed repair: why the code fails, and new contents for a few files, each explained."""

    analysis: Annotated[str, StringConstraints(max_length=2000)]
    root_cause: Annotated[str, StringConstraints(max_length=500)]
    files: Annotated[tuple[ProposedFile, ...], Field(min_length=1, max_length=MAX_FILES)]
    test_targets: tuple[str, ...] = ()
    risk: Literal["low", "medium", "high"] = "medium"
    touches_external: bool = False

    @field_validator("files")
    @classmethod
    def _no_duplicates(cls, files: tuple[ProposedFile, ...]) -> tuple[ProposedFile, ...]:
        seen: set[str] = set()
        for f in files:
            # Two names that differ only in case are one file on macOS and Windows.
            key = f.path.casefold()
            if key in seen:
                raise ValueError(f"{f.path!r} is named twice (names that differ only in case count as one)")
            seen.add(key)
        return files
