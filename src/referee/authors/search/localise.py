"""Where the fault may be: lines by the Ochiai formula, regions by their lines and by what the failure names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.authors.search.clues import Clues
from referee.authors.search.generate import Heat
from referee.authors.search.regions import Region

Lines = frozenset[tuple[str, int]]
Suspicion = Mapping[str, Mapping[int, float]]  # path -> line -> 0 to 1

_FRAME = 0.9  # of a line the failure passed through, when no lines are known
_NAMED, _IMPORTED = 0.5, 0.2  # of a whole region, then
# Only a failing test has its values shown, so these always look guilty.
_SHOWING = {"__repr__": "repr", "__str__": "str", "__format__": "format"}
_SHOWN = 0.2
_TITLE, _SUBJECT = 1.3, 1.1  # a function that a failing test is called after, a module that its file is
_RECENT, _RECENTLY = 1.3, 1.15  # a suspicious line that was changed lately, and the region around one


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A region and how hot it is."""

    region: Region
    heat: Heat


def ochiai(failing: Sequence[Lines], passing: Iterable[Lines]) -> Suspicion:
    """failed / sqrt(all failed * (failed + passed)) for each line that a failing test executed."""
    failed: Counter[tuple[str, int]] = Counter()
    passed: Counter[tuple[str, int]] = Counter()
    for lines in failing:
        failed.update(lines)
    for lines in passing:
        passed.update(lines)
    found: dict[str, dict[int, float]] = {}
    for (path, line), count in sorted(failed.items()):
        score = count / (len(failing) * (count + passed[path, line])) ** 0.5
        found.setdefault(path, {})[line] = score
    return found


def fresh(suspicion: Suspicion, recent: Mapping[str, frozenset[int]]) -> Suspicion:
    """Suspicion with more weight on lines that were changed lately; it only ever weighs what is suspicious anyway."""
    return {
        path: {n: min(1.0, s * _RECENT) if n in recent.get(path, ()) else s for n, s in lines.items()}
        for path, lines in suspicion.items()
    }


def from_frames(clues: Clues) -> Suspicion:
    """The lines the failures passed through, the innermost most suspicious, when nothing else is known."""
    found: dict[str, dict[int, float]] = {}
    for finding in clues.findings:
        places = [(f.path, f.line) for f in finding.frames] or [(finding.path, finding.line)]
        for depth, (path, line) in enumerate(reversed(places)):
            lines = found.setdefault(path, {})
            lines[line] = max(lines.get(line, 0.0), _FRAME * 0.8**depth)
    return found


def rank(regions: Iterable[Region], suspicion: Suspicion, clues: Clues, spectrum: bool) -> list[Ranked]:
    """The suspicious regions, hottest first. Without a spectrum every region of the files counts a little."""
    scored: list[tuple[float, Region, Heat]] = []
    for region in regions:
        lines = suspicion.get(region.source.path, {})
        own = {n: s for n, s in lines.items() if region.first_line <= n <= region.last_line}
        boost = _boost(region, clues)
        uniform = 0.0 if spectrum else _NAMED if _named(region, clues) else _IMPORTED
        heat = Heat(lines=own, uniform=uniform)
        if heat.highest > 0:
            mean = sum(own.values()) / len(own) if own else 0.0
            scored.append((boost * (heat.highest + 0.1 * mean), region, heat))
    scored.sort(key=lambda s: (-s[0], s[1].source.path, s[1].start))
    return [
        Ranked(region=region, heat=Heat(lines=heat.lines, uniform=heat.uniform, factor=_factor(position, score, heat)))
        for position, (score, region, heat) in enumerate(scored, start=1)
    ]


def _factor(position: int, score: float, heat: Heat) -> float:
    """Later regions count less; what a boost added counts for the whole region."""
    return float(min(2.0, score / heat.highest) / position**0.4)


def _boost(region: Region, clues: Clues) -> float:
    boost = 1.25 if _named(region, clues) else 1.0
    if any(region.first_line <= n <= region.last_line for n in clues.recent.get(region.source.path, ())):
        boost *= _RECENTLY
    boost *= _called_after(region, clues)
    shows = _SHOWING.get(region.name.rpartition(".")[2])
    if shows is not None and shows not in clues.words:
        return _SHOWN
    for finding in clues.findings:
        inside = [depth for depth, f in enumerate(reversed(finding.frames)) if _holds(region, f.path, f.line)]
        if inside:
            boost *= 1.0 + 0.4 / (1 + inside[0])
            break
    return boost


def _called_after(region: Region, clues: Clues) -> float:
    """How much the names of the failing tests and of their files speak for a region."""
    own = region.name.rpartition(".")[2].strip("_").lower()
    titled = len(own) > 3 and any(f"_{own}_" in title for title in clues.titles)
    module = region.source.path.rpartition("/")[2].removesuffix(".py").strip("_").lower()
    return (_TITLE if titled else 1.0) * (_SUBJECT if module in clues.subjects else 1.0)


def _named(region: Region, clues: Clues) -> bool:
    return any(part in clues.words for part in region.name.split(".") if len(part) > 2)


def _holds(region: Region, path: str, line: int) -> bool:
    return region.source.path == path and region.first_line <= line <= region.last_line
