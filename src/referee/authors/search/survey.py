"""Before the search: which files matter, where they are suspicious, what they can be repaired with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from referee.authors.search.clues import Clues, clues, named_after
from referee.authors.search.generate import Heat, Hot
from referee.authors.search.ingredients import BUILTIN_EXCEPTIONS, Gathered, Ingredients, gather, merged
from referee.authors.search.localise import Lines, Ranked, Suspicion, fresh, from_frames, ochiai, rank
from referee.authors.search.modules import Modules
from referee.authors.search.regions import FUNCTIONS, Region, regions
from referee.authors.search.source import Source, parse
from referee.domain.finding import Finding

_MOST_FILES, _MOST_REGIONS, _MOST_NEIGHBOURS = 40, 60, 4
_CONSTANT_SHARE = 0.5  # heat of an assignment outside functions, compared with the function that uses the name
_USERS = 8  # hottest functions whose module-level names count


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known before the search. `targets` are the failing test ids, `text` is the task's.

    `recent` are the lines that the last commits changed, by path.
    """

    failing: tuple[Lines, ...] = ()
    passing: tuple[Lines, ...] = ()
    targets: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    text: str = ""
    recent: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Tree:
    """The repository's files, read and parsed once. `allowed` says which may be changed."""

    paths: tuple[str, ...]
    read: Callable[[str], bytes | None]
    allowed: Callable[[str], bool]
    _sources: dict[str, Source | None] = field(default_factory=dict)
    _gathered: dict[str, Gathered] = field(default_factory=dict)

    def source(self, path: str) -> Source | None:
        """A file as source; None if it is missing or is not valid Python."""
        if path not in self._sources:
            data = self.read(path)
            self._sources[path] = None if data is None else Source.load(path, data)
        return self._sources[path]

    def known(self, path: str) -> Source:
        """A file that was parsed before, such as one that a candidate comes from."""
        found = self.source(path)
        assert found is not None
        return found

    def module(self, path: str) -> ast.Module | None:
        """A file's tree."""
        source = self.source(path)
        return source.tree if source else None

    def gathered(self, path: str) -> Gathered:
        """What a file mentions."""
        if path not in self._gathered:
            module = self.module(path)
            self._gathered[path] = gather([module] if module is not None else [])
        return self._gathered[path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Where to search. `thin` says why a repair may be overfitted, if it may; `skipped` are files nobody can parse."""

    hot: tuple[Hot, ...]
    thin: str = ""
    skipped: tuple[str, ...] = ()


def survey(tree: Tree, evidence: Evidence) -> Survey:
    """Look at everything once and decide where to search."""
    modules = Modules(tree.paths)
    tests = _tests(tree, evidence.targets)
    known = clues(tests, evidence.text, evidence.findings)
    recent = {path: frozenset(lines) for path, lines in evidence.recent.items()}
    titles, subjects = named_after(evidence.targets)
    known = replace(known, recent=recent, titles=titles, subjects=subjects)
    spectrum = any(evidence.failing)
    suspicion = ochiai(evidence.failing, evidence.passing) if spectrum else from_frames(known)
    suspicion = fresh(suspicion, known.recent)
    files = _files(tree, modules, suspicion, [p for p, _ in _by_file(evidence.targets)], spectrum)
    sources = [s for s in map(tree.source, files) if s is not None]
    ranked = rank(chain.from_iterable(map(regions, sources)), suspicion, known, spectrum)[:_MOST_REGIONS]
    ranked += _constants(tree, modules, ranked)
    gathered: dict[str, Ingredients] = {}
    for source in {id(r.region.source): r.region.source for r in ranked}.values():
        gathered[source.path] = _ingredients(tree, modules, source, known)
    hot = tuple(
        Hot(region=r.region, heat=r.heat, ingredients=gathered[r.region.source.path], emphasis=known.emphasis)
        for r in ranked
    )
    skipped = tuple(f for f in files if tree.source(f) is None)
    return Survey(hot=hot, thin=_thin(evidence, spectrum), skipped=skipped)


def _by_file(targets: Sequence[str]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for target in targets:
        found.setdefault(target.partition("::")[0], []).append(target)
    return list(found.items())


def _tests(tree: Tree, targets: Sequence[str]) -> list[tuple[ast.Module, Sequence[str]]]:
    found: list[tuple[ast.Module, Sequence[str]]] = []
    for path, ids in _by_file(targets):
        data = tree.read(path)
        module = parse(data.decode("utf-8", "replace").removeprefix("\ufeff")) if data else None
        if module is not None:
            found.append((module, ids))
    return found


def _files(tree: Tree, modules: Modules, suspicion: Suspicion, tests: Sequence[str], spectrum: bool) -> tuple[str, ...]:
    """The files to search, most suspicious first."""
    by_heat = sorted(suspicion, key=lambda p: (-max(suspicion[p].values()), p))
    if not spectrum:
        by_heat += [p for p in modules.closure(tests, tree.module, _MOST_FILES) if p not in by_heat]
    known = set(tree.paths)
    return tuple(p for p in by_heat if p.endswith(".py") and p in known and tree.allowed(p))[:_MOST_FILES]


def _constants(tree: Tree, modules: Modules, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Assignments outside functions, of names that the hottest functions use: no test runs them, all depend on them."""
    found: dict[tuple[str, int], Ranked] = {}
    taken = {(r.region.source.path, r.region.start) for r in ranked}
    for user in ranked[:_USERS]:
        source = user.region.source
        names = {n.id for n in ast.walk(user.region.node) if isinstance(n, ast.Name)}
        names |= {n.attr for n in ast.walk(user.region.node) if isinstance(n, ast.Attribute)}
        for path in (source.path, *modules.imported(source.path, source.tree)[:_MOST_NEIGHBOURS]):
            other = tree.source(path) if tree.allowed(path) else None
            for region in regions(other) if other else ():
                key = (path, region.start)
                if key not in taken and key not in found and _assigns(region, names):
                    heat = Heat(lines={}, uniform=user.heat.highest, factor=_CONSTANT_SHARE * user.heat.factor)
                    found[key] = Ranked(region=region, heat=heat)
    return list(found.values())


def _assigns(region: Region, names: set[str]) -> bool:
    if isinstance(region.node, FUNCTIONS):
        return False
    stored = (n for n in ast.walk(region.node) if isinstance(getattr(n, "ctx", None), ast.Store))
    return any(getattr(n, "id", getattr(n, "attr", None)) in names for n in stored)


def _ingredients(tree: Tree, modules: Modules, source: Source, known: Clues) -> Ingredients:
    near = modules.imported(source.path, source.tree)[:_MOST_NEIGHBOURS]
    return Ingredients(
        here=tree.gathered(source.path),
        near=merged(map(tree.gathered, near)),
        tests=known.tests,
        blamed=known.blamed,
        exceptions=tuple(dict.fromkeys((*known.errors, *BUILTIN_EXCEPTIONS))),
    )


def _thin(evidence: Evidence, spectrum: bool) -> str:
    if not spectrum:
        return "no test coverage was available to say where the fault is"
    if len(evidence.failing) + len(evidence.passing) < 3:
        return "very few tests say what the code should do"
    return ""
