"""Which tests a change can reach: pure, and the less is known the more are chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from referee.domain.value import Value
from referee.judge.selection.mentions import Mentions, Wanted
from referee.judge.selection.reached import BY, COLLECTED, is_test
from referee.judge.selection.shape import Difference

_CONFIGURATION = (".toml", ".cfg", ".ini", ".pth", ".so", ".pyd", ".pyx")
_PROSE = (".md", ".rst", ".adoc")
_PROSE_NAMES = ("license", "authors", "changes", "changelog", "contributing", "readme", "copying", "notice", "news")
Place = tuple[str, str]


class Change(Value):
    """One file that differs. `python` says how, None if it is no Python file; `there` is False if it came or went."""

    path: str
    python: Difference | None = None
    there: bool = True


class Selection(Value):
    """Tests to run: all of them, or whole `files` and single `tests`. `why` says it in a few words."""

    everything: bool = False
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    why: str = ""

    def chosen(self, known: Iterable[str]) -> tuple[str, ...]:
        """Which of the known tests are meant."""
        files, tests = frozenset(self.files), frozenset(self.tests)
        return tuple(t for t in known if self.everything or t in tests or file_of(t) in files)


class Code(Value):
    """What the text says: whom imports lead to files, who mentions names; and which files are tests or plugins."""

    reaching: Callable[[Collection[str]], frozenset[str]]
    mentions: Callable[[Wanted], Mentions]
    tests: frozenset[str]
    plugins: frozenset[str] = frozenset()


def file_of(test: str) -> str:
    """The file a test is in."""
    return test.partition("::")[0]


def select(changes: Collection[Change], code: Code, known: Collection[str], record: Record | None) -> Selection:
    """The tests that can tell the changed tree from the one before; `known` are all that there are."""
    if not changes:
        return Selection(why="nothing changed")
    for change in changes:
        if _configures(change.path, code.plugins) or (record is None and change.python is None):
            return Selection(everything=True, why=f"{change.path} may matter to any test")
    if record is None:
        reached = code.reaching([c.path for c in changes])
        return Selection(files=_served({*reached}, code.tests), why="by imports")
    chosen = _Chosen(code, record)
    for change in changes:
        if change.python is None:
            if not chosen.by_opening(change):
                return Selection(everything=True, why=f"it is not known which tests need {change.path}")
        else:
            chosen.by_code(change, change.python)
    tests = tuple(t for t in known if t in chosen.tests or t in record.always or t not in record.tests)
    files = _served(chosen.files, code.tests)
    return Selection(files=files, tests=tests, why="by what each test was seen to reach")


class Record:
    """What tests were seen to reach, the other way round."""

    def __init__(self, places: Mapping[str, frozenset[Place]], always: Collection[str]) -> None:
        self.tests = frozenset(filter(is_test, places))
        self.always = frozenset(always)
        self.collected = places.get(COLLECTED, frozenset())
        self._importing: dict[Place, set[str]] = {}
        self._reaching: dict[Place, set[str]] = {}
        self._running: dict[str, set[str]] = {}
        for who in places:
            for place in places[who] if who.startswith(BY) else ():
                self._importing.setdefault(place, set()).add(who.removeprefix(BY))
        for test in self.tests:
            for place in places[test]:
                self._reaching.setdefault(place, set()).add(test)
                self._running.setdefault(place[0], set()).add(test)

    def reaching(self, place: Place) -> set[str]:
        """Tests that ran a function, or opened a file."""
        return self._reaching.get(place, set())

    def importing(self, place: Place) -> set[str]:
        """Modules that reached it while they were imported."""
        return self._importing.get(place, set())

    def touching(self, path: str) -> set[str]:
        """Tests that ran or opened anything of a file."""
        return self._running.get(path, set())


class _Chosen:
    def __init__(self, code: Code, record: Record) -> None:
        self._code, self._record = code, record
        self.files: set[str] = set()
        self.tests: set[str] = set()

    def by_opening(self, change: Change) -> bool:
        """Those who opened the file, or listed its folder when it came or went. False if nobody knows."""
        opened = {(change.path, "")} | (_listings(change.path) if not change.there else set())
        found = {t for place in opened for t in self._record.reaching(place)}
        modules = self._record.importing((change.path, "")) if change.python is None else set()
        self.tests |= found
        self.files.add(change.path)  # texts can hold tests as well
        for module in modules:
            self._all_of(module)
        if change.python is None and opened & self._record.collected:
            return False
        return _prose(change.path) or (bool(found or modules) and change.there)

    def by_code(self, change: Change, how: Difference) -> None:
        """Those who ran what differs; all who import the file, if more than bodies and names differ."""
        path = change.path
        self.by_opening(change)
        if how.whole or path in self._code.tests or path.endswith("conftest.py"):
            self._all_of(path)
        for name in how.bodies:
            self._function(path, name)
        if how.names and not how.whole:
            said = self._code.mentions(Wanted(path=path, names=how.names, gone=how.gone))
            for file in said.files:
                self._all_of(file)
            for file, name in said.functions:
                self._function(file, name)

    def _function(self, path: str, name: str) -> None:
        self.tests |= self._record.reaching((path, name))
        for module in self._record.importing((path, name)):
            self._all_of(module)
        if (path, name) in self._record.collected:
            self._all_of(path)

    def _all_of(self, path: str) -> None:
        reached = self._code.reaching([path])
        self.files |= reached
        self.tests |= self._record.touching(path)


def _served(files: set[str], tests: Collection[str]) -> tuple[str, ...]:
    """The files, and the tests that a conftest among them serves."""
    folders = tuple(f.removesuffix("conftest.py") for f in files if f.rpartition("/")[2] == "conftest.py")
    return tuple(sorted(files | {t for t in tests if t.startswith(folders)}))


def _listings(path: str) -> set[Place]:
    parts = path.split("/")[:-1]
    return {("/".join(parts[:n]) + "/" if n else "./", "") for n in range(len(parts) + 1)}


def _configures(path: str, plugins: Collection[str]) -> bool:
    base = path.rpartition("/")[2]
    return base.endswith(_CONFIGURATION) or base in ("setup.py", ".env") or (path in plugins and base != "conftest.py")


def _prose(path: str) -> bool:
    base = path.rpartition("/")[2].lower()
    return base.endswith(_PROSE) or base.partition(".")[0] in _PROSE_NAMES
