"""The project's pytest configuration, read from the unpatched tree: which file, which options matter to a verdict."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from referee.domain.value import Value

Read = Callable[[str], bytes | None]

# Options about how to show, repeat, spread or shorten a run. The judge decides those for itself.
_FLAGS = frozenset(
    """--exitfirst --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --sw-skip --stepwise-skip
    --sw-reset --stepwise-reset --pdb --trace --quiet --verbose --showlocals --no-showlocals --no-header --no-summary
    --disable-warnings --disable-pytest-warnings --strict-config --collect-only --co --setup-only --setup-plan
    --setup-show --cache-clear --no-cov --cov-append --cov-branch --no-cov-on-fail --cov-reset --force-sugar
    --self-contained-html --instafail --random-order --full-trace --force-short-summary --xfail-tb""".split()  # noqa: SIM905
)
_VALUED = frozenset(
    """--maxfail -n --numprocesses --dist --tx --maxprocesses --max-worker-restart --cov-report --cov-config
    --cov-fail-under --cov-context --cov-precision --junitxml --junit-xml --junit-prefix --html --css --durations
    --durations-min --tb --color --code-highlight --show-capture --capture --reruns --reruns-delay --only-rerun
    --rerun-except --assert --rootdir --confcutdir -c --config-file --basetemp --log-file --log-file-mode
    --verbosity --report-log --lfnf --last-failed-no-failures --random-order-bucket --random-order-seed --cov
    --pastebin --debug --randomly-seed""".split()  # noqa: SIM905
)
_OPTIONAL = frozenset(("--cov", "--cache-show", "--debug"))
_SELECTING = frozenset(("-m", "-k"))
_SHORT = re.compile(r"-(?:[qvslx]+|r[a-zA-Z]+)$")
_KEEP_VALUED = frozenset(("-W", "--pythonwarnings", "-o", "--override-ini", "--ignore", "--ignore-glob", "--deselect",
                          "--import-mode", "--doctest-glob", "--doctest-report"))  # fmt: skip
_KEEP_FLAGS = frozenset(
    """--strict-markers --doctest-modules --doctest-continue-on-failure --doctest-ignore-import-errors --runxfail
    --continue-on-collection-errors --keep-duplicates --noconftest --pyargs --import-mode""".split()  # noqa: SIM905
)
_UNWANTED = frozenset(
    ("xdist", "pytest_cov", "cov", "randomly", "random_order", "sugar", "rerunfailures", "cacheprovider")
)


class PytestConfig(Value):
    """`file` is relative to the root, empty if there is none. `selecting` are `-m` and `-k` with their values."""

    file: str = ""
    arguments: tuple[str, ...] = ()
    selecting: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()
    python_files: tuple[str, ...] = ("test_*.py", "*_test.py")

    @property
    def present(self) -> bool:
        """Whether the project configures pytest at all."""
        return bool(self.file)


def load(read: Read) -> PytestConfig:
    """The configuration pytest itself would choose at the root. Unreadable files are as if they were not there."""
    file, options = _find(read)
    sorted_out = _Options(_words(options.get("addopts", ())), _words(options.get("testpaths", ())))
    found = PytestConfig(
        file=file,
        arguments=tuple(sorted_out.keep),
        selecting=tuple(sorted_out.selecting),
        blocked=tuple(sorted_out.blocked),
        pythonpath=_words(options.get("pythonpath", ())),
        testpaths=_words(options.get("testpaths", ())),
    )
    patterns = _words(options.get("python_files", ()))
    return found.model_copy(update={"python_files": patterns}) if patterns else found


def test_patterns(read: Read) -> tuple[str, ...]:
    """What makes a file a test in this project, beyond the built-in names: to be protected as those are.

    Where every Python file may hold tests, the folders named for tests are meant instead.
    """
    found = load(read)
    if any(not p.removesuffix(".py").strip("*/") for p in found.python_files):
        return tuple(f"/{t.strip('/')}/" for t in found.testpaths if t.strip("./") and not set(t) & set("!#*?[\\"))
    return tuple(p for p in found.python_files if not p.startswith(("!", "#")))


def _find(read: Read) -> tuple[str, Mapping[str, Any]]:
    for name in ("pytest.toml", ".pytest.toml"):
        table = toml(read(name))
        if table is not None:
            return name, table.get("pytest", {})
    for name in ("pytest.ini", ".pytest.ini"):
        sections = ini(read(name))
        if sections is not None:
            return name, sections.get("pytest", {})
    tool = (toml(read("pyproject.toml")) or {}).get("tool", {}).get("pytest")
    if isinstance(tool, dict):
        return "pyproject.toml", tool.get("ini_options", {}) or {k: v for k, v in tool.items() if k != "ini_options"}
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found = (ini(read(name)) or {}).get(section)
        if found is not None:
            return name, found
    return "", {}


def toml(data: bytes | None) -> dict[str, Any] | None:
    """A TOML document; None if it is missing or malformed."""
    try:
        return None if data is None else tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None


def ini(data: bytes | None) -> dict[str, dict[str, str]] | None:
    """An INI document by section; None if it is missing or malformed."""
    if data is None:
        return None
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, interpolation=None)
    try:
        parser.read_string(data.decode("utf-8", "replace"))
    except configparser.Error:
        return None
    return {s: {k: v or "" for k, v in parser.items(s)} for s in parser.sections()}


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value, comments=False))
        except ValueError:
            return tuple(value.split())
    return tuple(str(v) for v in value) if isinstance(value, (list, tuple)) else ()


class _Options:
    """Sorts the words of `addopts`: what to keep, what selects tests, which plugins are switched off."""

    def __init__(self, words: tuple[str, ...], paths: tuple[str, ...]) -> None:
        self._rest = list(words)
        self._paths = frozenset(("tests", "test", ".", *paths))
        self.keep: list[str] = []
        self.selecting: list[str] = []
        self.blocked: list[str] = []
        while self._rest:
            word = self._rest.pop(0)
            if word.startswith("-"):  # a path is no option: what to run is given explicitly
                self._take(word)

    def _value(self) -> str:
        return self._rest.pop(0) if self._rest else ""

    def _take(self, word: str) -> None:
        name, equals, _ = word.partition("=")
        if word[:2] in _SELECTING:
            self.selecting += [word[:2], word[2:].lstrip("=") or self._value()]
        elif word.startswith("-p"):
            self._plugin(word[2:] or self._value())
        elif name in _VALUED:
            optional = name in _OPTIONAL and (not self._rest or self._rest[0].startswith("-"))
            if not equals and not optional:
                self._value()
        elif name in _FLAGS or _SHORT.match(word) or word.startswith("-n"):
            return
        elif word == "--strict":
            self.keep.append("--strict-markers")
        else:
            self.keep += [word, *([self._value()] if self._wants_value(name, bool(equals)) else [])]

    def _wants_value(self, name: str, given: bool) -> bool:
        """Whether the next word belongs to this option: surely for some, and likely for a plugin's `--option word`."""
        if given or not self._rest or name in _KEEP_FLAGS - _KEEP_VALUED:
            return False
        following = self._rest[0]
        if name in _KEEP_VALUED:
            return True
        path = following in self._paths or "/" in following or following.endswith(".py")
        return not path and not following.startswith("-")

    def _plugin(self, name: str) -> None:
        if name.startswith("no:"):
            self.blocked.append(name)
        elif name.split(".")[0].removeprefix("pytest_") not in _UNWANTED:
            self.keep += ["-p", name]


def wanted_plugins(installed: tuple[str, ...], modules: tuple[str, ...]) -> tuple[str, ...]:
    """The environment's plugins to load: all but those that reorder, repeat or only decorate a run.

    Hypothesis takes longer to import than most tests to run; it is loaded where the project uses it.
    """
    idle = {"randomly", "random_order", "sugar", "instafail", "pretty"}
    if "hypothesis" not in modules:
        idle.add("hypothesispytest")
    return tuple(p for p in installed if p not in idle)
