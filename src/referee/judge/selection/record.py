"""Find out what each test reaches, by running tests under watch; only those that may have changed are run again."""

from __future__ import annotations

from referee.actions.execute import Execute
from referee.actions.recall import Recall, Remember
from referee.domain.canonical import canonical
from referee.domain.errors import UsageError
from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.judge import plan, stream
from referee.judge.plan import TestRun
from referee.judge.project import Project
from referee.judge.selection.compare import Tree, changes_of, code_of
from referee.judge.selection.reached import Reached, digest, from_text, is_test, packed, reached_in, unpacked
from referee.judge.selection.rules import Record, Selection, file_of, select
from referee.judge.selection.shape import shape_of
from referee.judge.settings import SUITE_KEY, Settings
from referee.kernel.run import Run
from referee.ports import Base

_SLOWER = 6  # being watched makes tests slower by up to this


class Recorded(Value):
    """A map that is now up to date, how many of its tests were run for it, and how long that took."""

    reached: Reached
    again: int = 0
    duration_ms: int = 0


def known_map(run: Run, project: Project, tree: str) -> Reached | None:
    """The map of this very tree, else the last one that was made of the project."""
    exact = _recalled(run, _key(project, tree))
    if exact is not None:
        return exact
    latest = run.perform(Recall(key=_key(project, ""))).text
    return None if latest is None else _recalled(run, _key(project, latest))


def record(run: Run, project: Project, base: Base, settings: Settings) -> Recorded:
    """Bring the map up to date and keep it. Raises `UsageError` if the tests do not come to an end."""
    before = known_map(run, project, base.tree)
    if before is not None and before.tree == base.tree:
        return Recorded(reached=before)
    meant = _stale(run, project, base, before)
    bare = _described(run, base, before)
    if before is not None and not meant.everything and not (meant.files or meant.tests):
        made = Recorded(reached=bare)
    else:
        made = _watched(run, project, base, settings, meant, bare if not meant.everything else _emptied(bare))
    run.perform(Remember(key=_key(project, base.tree), text=made.reached.to_text()))
    run.perform(Remember(key=_key(project, ""), text=base.tree))
    return made


def _recalled(run: Run, key: str) -> Reached | None:
    text = run.perform(Recall(key=key)).text
    return None if text is None else from_text(text)


def _key(project: Project, tree: str) -> str:
    """A project's map depends on its Python, what is installed there, and how its tests are run."""
    python = project.interpreter
    how = {"home": project.home, "arguments": plan.arguments(project, TestRun()), "plugins": project.plugins}
    tools = {"python": python.version, "prefix": python.prefix, "installed": dict(python.distributions)}
    return canonical({"kind": "map", "root": project.root, "tree": tree, "how": how, "tools": tools}).decode()


def _stale(run: Run, project: Project, base: Base, before: Reached | None) -> Selection:
    """What has to be run again on this tree."""
    if before is None:
        return Selection(everything=True)
    tree = Tree(run.paths(base.tree), lambda p: run.read(base.tree, p), Patch())
    changes = changes_of(tree, base.tree, before)
    known = tuple(before.tests)
    made = select(changes, code_of(tree, project.layout, before.plugins), known, Record(unpacked(before), ()))
    # Files that have tests now, whether or not they had any before.
    paths = frozenset(run.paths(base.tree))
    held = {file_of(t) for t in known} | {*project.layout.tests}
    files = tuple(f for f in made.files if f in paths and f in held)
    tests = tuple(t for t in made.tests if file_of(t) in paths and file_of(t) not in files)
    return made.model_copy(update={"files": files, "tests": tests})


def _described(run: Run, base: Base, before: Reached | None) -> Reached:
    """The tree's files, with what is known of tests whose files are still there."""
    sources = {p: data for p in run.paths(base.tree) if (data := run.read(base.tree, p)) is not None}
    shapes = {p: s for p, data in sources.items() if p.endswith(".py") and (s := shape_of(data)) is not None}
    kept = ("places", "others", "always", "plugins")
    known = {} if before is None else {name: getattr(before, name) for name in kept}
    tests = {} if before is None else {t: ns for t, ns in before.tests.items() if file_of(t) in sources}
    files = {p: digest(data) for p, data in sources.items()}
    return Reached(tree=base.tree, files=files, shapes=shapes, tests=tests, **known)


def _emptied(bare: Reached) -> Reached:
    return bare.model_copy(update={"places": (), "tests": {}, "others": {}, "always": ()})


def _watched(run: Run, project: Project, base: Base, settings: Settings, meant: Selection, bare: Reached) -> Recorded:
    ids = () if meant.everything else (*meant.files, *meant.tests)
    what = TestRun(ids=ids, reach=True, full=False, test_seconds=settings.test_seconds * _SLOWER)
    seconds = settings.suite_seconds * _SLOWER
    run.progress("check", {"check": "pytest-map", "layer": "L4"})
    execution = run.perform(Execute(command=plan.command(project, base, Patch(), what, seconds)))
    report = stream.read(execution.channel, execution.key)
    if execution.killed_by in ("wall", "cpu"):
        raise UsageError(f"the tests did not end within {seconds:g} seconds while watched; raise {SUITE_KEY}")
    if report.broken:
        raise UsageError(f"the tests do not come to an end, so there is no map: {report.broken}")
    sources = {p: d for p in bare.shapes if (d := run.read(base.tree, p)) is not None}
    seen = reached_in(report, sources)
    outcomes = report.outcomes
    unsure = {t for t, o in outcomes.items() if o in ("failed", "error", "missing")}
    old = unpacked(bare)
    replaced = {t for t in old if file_of(t) in meant.files or t in meant.tests}
    places = {t: reached for t, reached in old.items() if t not in replaced}
    places |= {t: seen.get(t, frozenset()) for t in outcomes}
    # What imports reach is only added to: not every module is imported again by every run.
    places |= {who: reached | old.get(who, frozenset()) for who, reached in seen.items() if not is_test(who)}
    always = {*(a for a in bare.always if a not in outcomes), *unsure}
    update = {"always": tuple(sorted(always)), "plugins": tuple(dict.fromkeys((*bare.plugins, *report.plugins)))}
    made = packed(places, bare.model_copy(update=update))
    return Recorded(reached=made, again=len(outcomes), duration_ms=execution.duration_ms)
