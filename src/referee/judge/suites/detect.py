"""What a repository holds beside Python: suites and linters by its package.json, Cargo.toml and go.mod files."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.judge.suites.linters import Linter, of_cargo, of_go, of_node
from referee.judge.suites.steering import CONFIGURATION, steering
from referee.judge.suites.suite import Kind, Suite

Read = Callable[[str], bytes | None]
_MARKS = ("package.json", "Cargo.toml", "go.mod")
_NEVER = ("node_modules", "vendor", "target", "dist", "build", "testdata", "fixtures", "test-fixtures", "__fixtures__")
_SCRIPT = r"\.(?:[cm]?[jt]s|[jt]sx)$"
_NAMED = re.compile(r"(?:^|/)(?:[^/]*[.](?:test|spec))" + _SCRIPT)
_JEST = re.compile(r"(?:^|/)__tests__/.*" + _SCRIPT + "|" + _NAMED.pattern)
_NODE = re.compile(
    r"(?:^|/)(?:[^/]+[._-]test|test)\.[cm]?js$|(?:^|/)tests?/.*\.[cm]?js$|(?:^|/)[^/]+\.(?:test|spec)\.[cm]?[jt]s$"
)
_TOOLS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("vitest", _NAMED), ("jest", _JEST))
_ROOTS = r"(?:src/(?:lib|main)|src/bin/[^/]+|src/bin/[^/]+/main|tests/[^/]+|tests/[^/]+/main)\.rs"
_TAKES_VALUE = ("--import", "--require", "-r", "--loader", "--experimental-loader", "--conditions", "-C")
_PLAIN = ("--experimental-strip-types", "--experimental-transform-types", "--experimental-vm-modules", "--no-warnings")


class Found(Value):
    """Suites and linters, in the order of their folders."""

    suites: tuple[Suite, ...] = ()
    linters: tuple[Linter, ...] = ()


def other_languages(paths: Sequence[str], read: Read, protection: Protection) -> Found:
    """All that a tree shows, by its files alone; what is below folders of dependencies or fixtures is not its own."""
    if not any(p.endswith(_MARKS) for p in paths):
        return Found()
    suites: list[Suite] = []
    linters: list[Linter] = []
    cargo: list[str] = []
    plain = (p for p in paths if not set(p.split("/")[:-1]) & set(_NEVER))
    own = sorted(plain, key=lambda p: (p.count("/"), p))
    for path in own:
        home, _, name = path.rpartition("/")
        if name == "package.json":
            told = _json(read(path))
            files = _below(home, own, own, name)
            prefix = f"{home}/" if home else ""
            texts = [(read(prefix + f) or b"").decode("utf-8", "replace") for f in files if CONFIGURATION.match(f)]
            for suite in _node(home, files, told):
                named = steering(files, texts, suite.flags)
                suites.append(suite.model_copy(update={"guarded": tuple(prefix + n for n in named)}))
            here = frozenset(f for f in files if "/" not in f)
            linters += of_node(home, here, _uses(told))
        elif name == "go.mod":
            files = [f for f in _below(home, own, own, name) if f.endswith(".go")]
            tests = tuple(f for f in files if f.endswith("_test.go"))
            folders = tuple(sorted({f.partition("/")[0] for f in files}))
            linters += of_go(home, folders)
            if tests:
                suites.append(Suite(kind="go-test", home=home, files=tests, why=f"detected: {path}"))
        elif name == "Cargo.toml" and not any(not c or home.startswith(c + "/") for c in cargo):
            told = _toml(read(path))
            workspace = "workspace" in told
            if workspace or "package" in told:
                cargo += [home] if workspace else []
                linters += of_cargo(home, workspace)
                suites.append(_cargo(home, _below(home, paths, (), ""), workspace, protection))
    return Found(suites=tuple(suites), linters=tuple(linters))


def _below(home: str, paths: Sequence[str], all_paths: Sequence[str], mark: str) -> list[str]:
    """Paths in `home`, relative to it, without those of projects of the same sort further in."""
    prefix = f"{home}/" if home else ""
    found = [p[len(prefix) :] for p in paths if p.startswith(prefix)]
    inner = {
        posixpath.dirname(p)[len(prefix) :] + "/"
        for p in all_paths
        if p.startswith(prefix) and posixpath.basename(p) == mark and posixpath.dirname(p) != home
    }
    return [f for f in found if not any(f.startswith(i) for i in inner)]


def _node(home: str, files: Sequence[str], told: Mapping[str, Any]) -> Iterator[Suite]:
    uses, where = _uses(told), f"{home}/package.json" if home else "package.json"
    scripts = told.get("scripts")
    words = " ".join(str(s) for s in scripts.values()) if isinstance(scripts, dict) else ""
    for kind, pattern in _TOOLS:
        if kind in uses or re.search(rf"\b{kind}\b", words):
            tests = tuple(f for f in files if pattern.search(f))
            if tests:
                yield Suite(kind=kind, home=home, files=tests, why=f"detected: {kind} in {where}")
                return
    script = re.search(r"\bnode\b[^&|;]*--test\b[^&|;]*", words)
    if script:
        tests = tuple(f for f in files if _NODE.search(f))
        if tests:
            why = f"detected: node --test in {where}"
            yield Suite(kind="node-test", home=home, files=tests, flags=_flags(script[0]), why=why)


def _flags(script: str) -> tuple[str, ...]:
    """What of the script's options says how files are loaded; which files to run is the judge's to say."""
    try:
        words = shlex.split(script)
    except ValueError:
        return ()
    found: list[str] = []
    for n, word in enumerate(words):
        if word in _TAKES_VALUE and n + 1 < len(words):
            found += [word, words[n + 1]]
        elif word in _PLAIN or word.partition("=")[0] in _TAKES_VALUE:
            found.append(word)
    return tuple(found)


def _cargo(home: str, files: Sequence[str], workspace: bool, protection: Protection) -> Suite:
    """Crate roots by convention: a test program is made of each."""
    crates = {posixpath.dirname(f) for f in files if posixpath.basename(f) == "Cargo.toml"} if workspace else {""}
    roots = []
    for crate in crates:
        start = re.escape(f"{crate}/" if crate else "")
        roots += [f for f in files if re.fullmatch(start + _ROOTS, f)]
    prefix = f"{home}/" if home else ""
    guarded = tuple(p for p in protection.select([prefix + f for f in files]) if p.removeprefix(prefix) not in roots)
    flags = ("--workspace",) if workspace else ()
    why = f"detected: {prefix}Cargo.toml"
    return Suite(kind="cargo-test", home=home, files=tuple(sorted(roots)), flags=flags, guarded=guarded, why=why)


def _uses(told: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in ("dependencies", "devDependencies", "optionalDependencies"):
        table = told.get(key)
        found |= {str(k): str(v) for k, v in table.items()} if isinstance(table, dict) else {}
    return found


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        told = json.loads(data or b"{}")
    except ValueError:
        return {}  # npm will say what is wrong with it
    return told if isinstance(told, dict) else {}


def _toml(data: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((data or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}  # cargo will say what is wrong with it
