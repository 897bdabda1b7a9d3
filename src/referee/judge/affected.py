"""Which tests can see what a patch changes: by a map of what each reaches if there is one, else by imports (D7)."""

from __future__ import annotations

from referee.domain.patch import Patch
from referee.domain.value import Value
from referee.judge.bench import Bench
from referee.judge.selection.compare import Tree, changes_of, code_of
from referee.judge.selection.rules import file_of, select
from referee.kernel.run import Run

WORTH_SELECTING_MS = 4_000  # a suite quicker than this is run whole at once


class Affected(Value):
    """What to run: whole files and single tests, as pytest takes them, or the whole suite if it is `everything`.

    `tests` are all of the known ones that will run; `why` says how they were chosen.
    """

    everything: bool = False
    ids: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    why: str = ""


def affected(run: Run, bench: Bench, patch: Patch) -> Affected:
    """The tests to run before the whole suite, which still follows; the targets are always among them."""
    base, layout = bench.base.tree, bench.project.layout
    tree = Tree(run.paths(base), lambda path: run.read(base, path), patch)
    known = tuple(bench.known.outcomes)
    code = code_of(tree, layout, bench.known.plugins)
    meant = select(changes_of(tree, base, bench.reached), code, known, bench.record)
    tests = tuple(dict.fromkeys((*meant.chosen(known), *bench.expected.ids)))
    if meant.everything:
        return Affected(everything=True, tests=tests, why=meant.why)
    # A file without tests must not be all that pytest is given; if no test is known, any file may have some.
    held = {file_of(t) for t in known} or {*layout.tests}
    whole = {f for f in meant.files if f in held} | {*bench.expected.files}
    single = tuple(t for t in tests if file_of(t) not in whole)
    return Affected(ids=(*sorted(whole), *single), tests=tests, why=meant.why)
