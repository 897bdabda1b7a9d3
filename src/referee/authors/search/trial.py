"""What is handed to the judge: one candidate, or two together, as a patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from referee.authors.search.candidate import Candidate, Splice, splice
from referee.authors.search.source import Source
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.verdict import CheckResult, CheckState

# Repairs that take behaviour away pass thin tests more often than they are right.
SUSPECT = frozenset(
    {"removed", "always", "returned_empty", "returned_instead", "returned_name", "unconditional", "fewer_clauses"}
)


@dataclass(frozen=True, slots=True)
class Trial:
    """Candidates that are made together; they do not overlap."""

    parts: tuple[Candidate, ...]

    @property
    def score(self) -> float:
        """The least of the parts' scores, halved for each part after the first."""
        return min(p.score for p in self.parts) * 0.5 ** (len(self.parts) - 1)

    @property
    def size(self) -> int:
        """Characters changed."""
        return sum(p.size for p in self.parts)

    @property
    def preference(self) -> tuple[int, bool, int, float]:
        """Sorts repairs that pass: fewer places, no behaviour taken away, fewer characters, likelier."""
        suspect = any(p.operator in SUSPECT for p in self.parts)
        return len(self.parts), suspect, self.size // 8, -self.score

    def splices(self) -> Mapping[str, tuple[Splice, ...]]:
        """The splices by path, in order of place."""
        found: dict[str, list[Splice]] = {}
        for part in self.parts:
            found.setdefault(part.path, []).extend(part.splices)
        return {path: tuple(sorted(made, key=lambda s: (s.start, s.end))) for path, made in found.items()}

    def patch(self, sources: Callable[[str], Source], executable: Callable[[str], bool]) -> Patch:
        """The files as they would be."""
        contents: dict[str, FileContent | None] = {}
        for path, text in self.contents(sources).items():
            contents[path] = FileContent(data=sources(path).encoded(text), executable=executable(path))
        return patch_of(contents)

    def contents(self, sources: Callable[[str], Source]) -> dict[str, str]:
        """The new text of each file."""
        texts: dict[str, str] = {}
        for part in self.parts:
            texts.setdefault(part.path, sources(part.path).text)
        return {path: splice(texts[path], made) for path, made in self.splices().items()}

    def describe(self, sources: Callable[[str], Source]) -> str:
        """One line: every change and where."""
        return "; and ".join(p.describe(sources(p.path)) for p in self.parts)


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial and what the judge said."""

    trial: Trial
    result: CheckResult

    @property
    def passed(self) -> bool:
        """Whether every target passed."""
        return self.result.state is CheckState.PASS


def progress(result: CheckResult, targets: frozenset[str]) -> tuple[int, int]:
    """How far a failing trial got: targets that pass, then the furthest line its tests reached."""
    passed = len(targets & set(result.passed_ids))
    reached = [
        frame.line
        for finding in result.findings
        for frame in finding.frames
        if finding.id in targets and frame.path == finding.id.partition("::")[0]
    ]
    return passed, max(reached, default=0)
