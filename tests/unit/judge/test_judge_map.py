"""A map of what each test reaches, made by running them; what it chooses is compared with what really changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from textwrap import dedent

import pytest
from judge_lab import Lab, patch

from referee.actions.tree import PrepareBase
from referee.domain.errors import UsageError
from referee.domain.layer import Layer
from referee.domain.patch import Patch
from referee.domain.protection import Protection
from referee.domain.verdict import CheckState
from referee.judge import Bench, Settings, plan, stream, try_gate
from referee.judge.affected import affected
from referee.judge.evidence import Known
from referee.judge.plan import TestRun
from referee.judge.selection.reached import Reached, from_text, is_test, unpacked
from referee.judge.selection.record import Recorded, record
from referee.ports import Base, Sandbox
from referee.testing import MemoryShelf

Build = Callable[..., Lab]
CORE = """\
import functools

LIMIT = 3


def base():
    return 1


def doubled():
    return base() * 2


def limited():
    return LIMIT


@functools.lru_cache
def cached():
    return base() + 10


def made():
    return 5


AT_IMPORT = made()


class Thing:
    def __init__(self):
        self.value = start()


def start():
    return 7


def shown(text):
    return text.upper()


def never():
    return 0
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/core.py": CORE,
    "pkg/reading.py": """\
import pathlib

HERE = pathlib.Path(__file__).parent


def text():
    return (HERE / "data.txt").read_text()


def names():
    return sorted(p.name for p in (HERE / "many").iterdir())
""",
    "pkg/data.txt": "x",
    "pkg/many/one.json": "{}",
    "pkg/unseen.bin": "1",
    "pkg/lazy.py": "def inner():\n    return 1\n\n\nVALUE = inner()\n",
    "pkg/child.py": "def main():\n    return 'hello'\n\n\nif __name__ == '__main__':\n    print(main())\n",
    "README.md": "# text\n",
    "tests/test_core.py": """\
        import threading
        import unittest

        import pytest

        from pkg import core


        def test_base():
            assert core.base() == 1


        def test_doubled():
            assert core.doubled() == 2


        def test_limited():
            assert core.limited() == 3


        def test_cached_one():
            assert core.cached() == 11


        def test_cached_two():
            assert core.cached() == 11


        def test_at_import():
            assert core.AT_IMPORT == 5


        @pytest.fixture(scope="module")
        def thing():
            return core.Thing()


        def test_thing_a(thing):
            assert thing.value == 7


        def test_thing_b(request):
            assert request.getfixturevalue("thing").value == 7


        class TestOld(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.thing = core.Thing()

            def test_one(self):
                assert self.thing.value == 7

            def test_two(self):
                assert self.thing.value == 7


        def test_thread():
            seen = []
            thread = threading.Thread(target=lambda: seen.append(core.base()))
            thread.start()
            thread.join()
            assert seen == [1]


        @pytest.mark.parametrize("text", ["a b", "x[y]", "p::q"])
        def test_shown(text):
            assert core.shown(text) == text.upper()
        """,
    "tests/test_reading.py": """\
        from pkg import reading


        def test_text():
            assert reading.text() == "x"


        def test_names():
            assert reading.names() == ["one.json"]


        def test_lazy():
            from pkg import lazy
            assert lazy.VALUE == 1


        def test_lazy_too():
            from pkg import lazy
            assert lazy.VALUE == 1


        def test_nothing():
            assert True
        """,
    "tests/test_child.py": """\
        import subprocess
        import sys


        def test_child():
            said = subprocess.run([sys.executable, "-m", "pkg.child"], capture_output=True, text=True)
            assert said.stdout == "hello\\n"
        """,
}
STARTS = {"test_one", "test_two", "test_thing_a", "test_thing_b"}
BASES = {"test_base", "test_doubled", "test_cached_one", "test_cached_two", "test_thread"}
SHOWN = {"test_shown[a b]", "test_shown[x[y]]", "test_shown[p::q]"}
IN_CORE = {*BASES, *STARTS, *SHOWN, "test_limited", "test_at_import"}

IN_READING = {"test_text", "test_names", "test_lazy", "test_lazy_too", "test_nothing"}


def core(old: str, new: str) -> Patch:
    assert old in CORE
    return patch({"pkg/core.py": CORE.replace(old, new, 1)})


CHANGES: dict[str, tuple[Patch, set[str] | None]] = {
    "a function behind a cache": (core("return 1", "return 9"), BASES),
    "what fixtures of modules and classes run": (core("return 7", "return 9"), STARTS),
    "what runs at import": (core("return 5", "return 6"), IN_CORE),
    "a constant": (core("LIMIT = 3", "LIMIT = 4"), {"test_limited"}),
    "a function under parameters": (core("text.upper()", "text"), SHOWN),
    "a function that nobody runs": (core("return 0", "return 1"), set()),
    "a name that is gone": (core("def start()", "def begin()"), {*STARTS, "test_thread"}),
    "a remark": (core("return 7", "return 7  # days"), set()),
    "a file that is read": (patch({"pkg/data.txt": "y"}), {"test_text"}),
    "a module that is imported late": (patch({"pkg/lazy.py": FILES["pkg/lazy.py"].replace("1", "2")}), IN_READING),
    "a file in a folder that is listed": (patch({"pkg/many/two.json": "{}"}), None),
    "a file that nobody was seen to read": (patch({"pkg/unseen.bin": "2"}), None),
    "prose": (patch({"README.md": "# other\n"}), set()),
    "what another process runs": (patch({"pkg/child.py": "print('bye')\n"}), set()),
    "a file that is gone": (patch({"pkg/lazy.py": None}), IN_READING),
}  # fmt: skip


def bare(test: str) -> str:
    """The name of a test without its file and class."""
    return test.partition("::")[2].removeprefix("TestOld::")


def files() -> dict[str, str]:
    return {path: dedent(text) for path, text in FILES.items()}


class Mapped:
    """A lab with its map, and a bench that knows what its tests do."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.project = lab, lab.project()
        self.made = record(lab.run, self.project, lab.base, Settings())
        self.reached = self.made.reached
        (self.outcomes,) = self.suites([Patch()])
        known = Known(outcomes=self.outcomes)
        self.bench = Bench(project=self.project, base=lab.base, settings=Settings(), known=known, suite_ms=60_000)
        self.bench = self.bench.model_copy(update={"reached": self.reached})

    def suites(self, patches: list[Patch]) -> list[dict[str, str]]:
        jobs = tuple(plan.job(self.project, p, TestRun(full=False), 60.0) for p in patches)
        done = plan.warm(self.lab.run, self.project, self.lab.base, jobs, 2)
        return [stream.read(e.channel, e.key).outcomes for e in done]

    def renewed(self) -> Recorded:
        """The map of the tree as it is now."""
        tree = self.lab.workspace.snapshot("r").tree
        base: Base = self.lab.run.perform(PrepareBase(tree=tree, protection=Protection()))
        return record(self.lab.run, self.project, base, Settings())


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Iterator[Mapped]:
    lab = Lab(tmp_path_factory.mktemp("map"), files(), sandbox)
    yield Mapped(lab)
    lab.close()


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_chosen_for(mapped: Mapped, name: str) -> None:
    change, expected = CHANGES[name]
    chosen = affected(mapped.lab.run, mapped.bench, change)
    if expected is None:
        assert (chosen.ids, {*chosen.tests}) == ((), mapped.outcomes.keys())
    else:
        assert {*map(bare, chosen.tests)} == {*expected, "test_child"}


def test_no_changed_outcome_is_missed(mapped: Mapped) -> None:
    """The whole suite is the judge of the selection."""
    assert {*mapped.outcomes.values()} == {"passed"}
    patches = [change for change, _ in CHANGES.values()]
    told = 0
    for change, now in zip(patches, mapped.suites(patches), strict=True):
        chosen = {*affected(mapped.lab.run, mapped.bench, change).tests}
        differ = {t for t, was in mapped.outcomes.items() if now.get(t) != was}
        assert differ <= chosen
        told += bool(differ)
    assert told >= 10, "most of these changes are seen by some test"


def test_the_gate_under_pressure_runs_what_is_affected(mapped: Mapped) -> None:
    """Names of tests with spaces, brackets and colons reach pytest whole (H5)."""
    change, expected = CHANGES["a function under parameters"]
    (result,) = try_gate(mapped.lab.run, mapped.bench, change, True)
    assert (result.check, result.layer, result.state) == ("pytest-affected", Layer.AFFECTED, CheckState.FAIL)
    assert {bare(t) for t in result.failed_ids} == expected
    assert {bare(t) for t in result.passed_ids} == {"test_child"}
    assert "by what each test was seen to reach" in result.note
    (same,) = try_gate(mapped.lab.run, mapped.bench, core("text.upper()", "str.upper(text)"), True)
    assert (same.state, {bare(t) for t in same.passed_ids}) == (CheckState.PASS, {*SHOWN, "test_child"})


def test_what_affects_every_test_runs_the_suite_once(mapped: Mapped) -> None:
    """Only under pressure, when no suite follows, is it the affected tests that run whole."""
    everything = next(change for change, expected in CHANGES.values() if expected is None)
    affected_, suite = try_gate(mapped.lab.run, mapped.bench, everything, False)
    assert (affected_.check, affected_.passed_ids) == ("pytest-affected", ())
    assert "the suite decides" in affected_.note
    assert suite.check == "pytest-suite"
    assert {*suite.passed_ids, *suite.failed_ids} == mapped.outcomes.keys()
    (alone,) = try_gate(mapped.lab.run, mapped.bench, everything, True)
    assert (alone.check, {*alone.passed_ids, *alone.failed_ids}) == ("pytest-affected", mapped.outcomes.keys())


def test_a_gated_round_asks_the_shelf_for_nothing(mapped: Mapped) -> None:
    """The map is recalled and turned round once for a run."""
    before = mapped.lab.performed().count("recall")
    change = CHANGES["a function under parameters"][0]
    affected(mapped.lab.run, mapped.bench, change)
    record_ = mapped.bench.record
    affected(mapped.lab.run, mapped.bench, change)
    assert (mapped.lab.performed().count("recall"), mapped.bench.record) == (before, record_)


def test_without_a_map_imports_decide(build: Build) -> None:
    lab = build(files())
    tests = ("tests/test_core.py::test_base", "tests/test_reading.py::test_text", "tests/test_child.py::test_child")
    known = Known(outcomes=dict.fromkeys(tests, "passed"))
    bench = Bench(project=lab.project(), base=lab.base, settings=Settings(), known=known)
    chosen = affected(lab.run, bench, CHANGES["a function under parameters"][0])
    assert (chosen.tests, chosen.why) == ((tests[0], tests[2]), "by imports"), "processes may start anything"
    assert chosen.ids == ("tests/test_child.py", "tests/test_core.py")


def test_a_map_is_renewed_by_running_what_changed(build: Build) -> None:
    """And is then the same as one made anew."""
    mapped = Mapped(build(files()))
    root, reading = mapped.lab.root, files()["tests/test_reading.py"]
    (root / "pkg/core.py").write_text(CORE.replace("return LIMIT", "return base() + 2"))
    assert mapped.renewed().again == 1, "test_limited"
    added = reading + "\n\ndef test_new():\n    assert reading.names()\n"
    (root / "tests/test_reading.py").write_text(added.replace("def test_nothing", "def test_renamed"))
    third = mapped.renewed()
    assert third.again == 7, "the file's tests, and test_child, which may start anything"
    assert "tests/test_reading.py::test_new" in third.reached.tests
    assert "tests/test_reading.py::test_nothing" not in third.reached.tests
    assert mapped.renewed() == Recorded(reached=third.reached), "nothing is run when nothing changed"
    mapped.lab.equipment.shelf = MemoryShelf(mapped.lab.equipment.clock)
    fresh, renewed = unpacked(mapped.renewed().reached), unpacked(third.reached)
    assert {w: p for w, p in fresh.items() if is_test(w)} == {w: p for w, p in renewed.items() if is_test(w)}
    assert all(places <= renewed[who] for who, places in fresh.items()), "what imports reach is only added to"


def test_tests_that_fail_or_trace_are_always_chosen(build: Build) -> None:
    odd = "import sys\nimport mod\ndef test_f():\n    assert mod.one() == 2\ndef test_t():\n    sys.settrace(None)\n"
    files = {"mod.py": "def one():\n    return 1\n", "test_odd.py": odd, "test_ok.py": "def test_ok(): pass\n"}
    lab = build(files)
    reached = record(lab.run, lab.project(), lab.base, Settings()).reached
    displaced = set() if hasattr(sys, "monitoring") else {"test_odd.py::test_t"}
    assert {*reached.always} == {"test_odd.py::test_f", *displaced}


def test_tests_that_die_leave_no_map(build: Build) -> None:
    lab = build({"test_d.py": "import os\ndef test_d(): os._exit(0)\n"})
    with pytest.raises(UsageError, match="there is no map"):
        record(lab.run, lab.project(), lab.base, Settings())


def test_a_map_survives_the_shelf_and_a_damaged_one_is_none(mapped: Mapped) -> None:
    assert from_text(mapped.reached.to_text()) == mapped.reached
    assert from_text(mapped.reached.to_text()[:-8]) is None
    assert from_text("nonsense") is None
    assert isinstance(mapped.reached, Reached)
