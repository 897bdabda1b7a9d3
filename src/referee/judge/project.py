"""What a project is judged with: found in its unpatched tree, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.judge import layout
from referee.judge.home import below, moved
from referee.judge.layout import Layout
from referee.judge.pytest_config import PytestConfig, Read, ini, load, toml, wanted_plugins
from referee.judge.suites.detect import Found, other_languages
from referee.ports import Interpreter, Mount, Toolchain

INSIDE = "/referee/judge/inside"
_BUILT_IN = ("syntax", "pytest")  # need no program beside the project's Python
_SCANNED = 400  # files read to learn which third-party modules to import ahead


class Tool(Value):
    """A program that checks code, and what the sandbox must show for it."""

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    note: str = ""


class Project(Value):
    """A repository as the judge sees it. `root` is absolute, as seen inside; other paths are relative to it.

    `home` is the folder of the project that is meant, where a repository holds several; empty for the root.

    `uses` are the names of the checks the project is set up for, `reasons` how each shows. `tools` holds those of them
    that need a program; one that is used but not in `tools` is missing. `left_out` are tools that the project's own
    environment does not have, though it is configured for them, with a sentence each: another version is no judge.
    `others` are the suites and linters of other languages. `forkable` says that its warm process can be forked,
    `hot` are files of tests that it compiles ahead.
    """

    root: str
    home: str = ""
    interpreter: Interpreter
    config: PytestConfig
    layout: Layout
    uses: tuple[str, ...]
    tools: Mapping[str, Tool]
    reasons: Mapping[str, str] = {}
    left_out: Mapping[str, str] = {}
    modules: tuple[str, ...] = ()
    mypy_whole: bool = False
    forkable: bool = True
    hot: tuple[str, ...] = ()
    toolchains: tuple[Toolchain, ...] = ()
    others: Found = Found()
    note: str = ""

    @property
    def env(self) -> dict[str, str]:
        """The environment of every check, the same for the unpatched tree and every proposal (case H18)."""
        prefix = self.interpreter.prefix
        return {
            **variables(self.toolchains),
            "PATH": search_path(prefix, self.toolchains),
            "VIRTUAL_ENV": prefix,
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "COLUMNS": "120",
        }

    @property
    def cwd(self) -> str:
        """Where its tests run, as seen inside."""
        return f"{self.root}/{self.home}" if self.home else self.root

    @property
    def suite(self) -> tuple[str, ...]:
        """What to give pytest for all of its tests; nothing where pytest finds them by itself."""
        return (self.config.testpaths or (self.home,)) if self.home else ()

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What must be visible for the project's Python and the judge's own files."""
        others = (m for t in self.toolchains for m in t.mounts)
        return (*self.interpreter.mounts, *others, Mount(source=str(Path(__file__).parent / "inside"), target=INSIDE))

    @property
    def plugins(self) -> tuple[str, ...]:
        """pytest plugins to load (and, as `no:NAME`, to switch off), by name."""
        return ("no:cacheprovider", *self.config.blocked, *wanted_plugins(self.interpreter.plugins, self.modules))

    def with_toolchains(self, found: tuple[Toolchain, ...]) -> Project:
        """The same project with what its other languages need."""
        note = "; ".join(n for n in (self.note, *(t.note for t in found)) if n)
        return self.model_copy(update={"toolchains": found, "note": note})

    def with_tool(self, name: str, why: str) -> Project:
        """The same project using a program of its environment that it is not set up for; unchanged if it has none."""
        tool = _tool(name, self.interpreter)
        if tool is None:
            return self
        update = {
            "uses": (*self.uses, name),
            "tools": {**self.tools, name: tool},
            "reasons": {**self.reasons, name: why},
        }
        return self.model_copy(update=update)

    def missing(self) -> tuple[str, ...]:
        """Checks the project is set up for whose program is nowhere to be found."""
        return tuple(u for u in self.uses if u not in self.tools and u not in _BUILT_IN)


class Scope(Value):
    """What of a repository is meant: the project in the folder `home`, and what a proposal may change."""

    protection: Protection = Protection()
    home: str = ""


def detect(
    root: str,
    paths: Sequence[str],
    read: Read,
    *,
    interpreter: Interpreter,
    own: Interpreter | None = None,
    scope: Scope | None = None,
) -> Project:
    """Look at a tree: `paths` and `read` are of the unpatched one. `own` is referee's interpreter, for its tools."""
    scope = scope or Scope()
    home, guarded = scope.home, frozenset(scope.protection.select(paths))
    pyproject = toml(read("pyproject.toml"))
    inner = moved(load(below(read, home)), home)
    config = inner if inner.present else load(read)
    roots = (*config.pythonpath, *_roots(paths, read, home))
    shape = layout.of(paths, config.python_files, roots, guarded)
    tables = (pyproject or {}).get("tool", {})
    reasons = _uses(tables, paths, read, config, shape)
    programs = [u for u in reasons if u not in _BUILT_IN]
    tools = {u: tool for u in programs if (tool := _tool(u, interpreter)) is not None}
    left_out = _left_out([p for p in programs if p not in tools], interpreter, own)
    files = ("mypy.ini", ".mypy.ini", "setup.cfg")
    mypy = tables.get("mypy", {}) or next((m for f in files if (m := (ini(read(f)) or {}).get("mypy"))), {})
    return Project(
        root=root,
        home=home,
        interpreter=interpreter,
        config=config,
        layout=shape,
        uses=tuple(u for u in reasons if u not in left_out),
        tools=tools,
        reasons=reasons,
        left_out=left_out,
        modules=_third_party(paths, read, shape, interpreter),
        mypy_whole=any(k in mypy for k in ("files", "packages", "modules")),
        others=other_languages(paths, read, scope.protection),
        note=interpreter.note,
    )


def _roots(paths: Sequence[str], read: Read, home: str) -> tuple[str, ...]:
    """Where the packages of the project in `home` are, then those of the root."""
    found = [f"{home}/{r}" for r in layout.configured_roots(toml(read(f"{home}/pyproject.toml")))] if home else []
    if home:
        found += [f"{home}/src"] if any(p.startswith(f"{home}/src/") for p in paths) else []
        found.append(home)
    return (*found, *layout.configured_roots(toml(read("pyproject.toml"))))


def variables(toolchains: Sequence[Toolchain]) -> dict[str, str]:
    """What all toolchains ask for in the environment."""
    return {name: value for t in toolchains for name, value in t.env.items()}


def search_path(prefix: str, toolchains: Sequence[Toolchain]) -> str:
    """Where commands look for programs: the project's Python first, the system's last."""
    return ":".join((f"{prefix}/bin", *(p for t in toolchains for p in t.path), "/usr/local/bin:/usr/bin:/bin"))


def _uses(
    tables: Mapping[str, object], paths: Sequence[str], read: Read, config: PytestConfig, shape: Layout
) -> dict[str, str]:
    known, found = set(paths), {}
    setup = ini(read("setup.cfg")) or {}
    for tool in ("ruff", "mypy"):
        files = (f"{tool}.toml", f".{tool}.toml") if tool == "ruff" else (f"{tool}.ini", f".{tool}.ini")
        where = [f"[tool.{tool}] in pyproject.toml"] if tool in tables else [f for f in files if f in known]
        where += ["[mypy] in setup.cfg"] if tool == "mypy" and tool in setup else []
        if where:
            found[tool] = f"detected: {where[0]}"
    if "ruff" in found:
        found = {"ruff": found["ruff"], "ruff-format": found["ruff"], **found}
    if any(p.endswith(".py") for p in paths):
        found["syntax"] = "detected: Python files"
    if config.present or shape.tests:
        found["pytest"] = f"detected: {config.file or shape.tests[0]}"
    return found


def _tool(name: str, interpreter: Interpreter) -> Tool | None:
    """From the project's environment."""
    program = name.partition("-")[0]
    if program not in interpreter.distributions:
        return None
    if program == "mypy":
        argv = (interpreter.executable, "-I", "-B", "-m", "mypy", f"--python-executable={interpreter.executable}")
        return Tool(argv=argv, mounts=interpreter.mounts)
    if program in interpreter.scripts:
        return Tool(argv=(f"{interpreter.prefix}/bin/{program}",), mounts=interpreter.mounts)
    return None


def _left_out(names: Sequence[str], interpreter: Interpreter, own: Interpreter | None) -> dict[str, str]:
    """Only a project with an environment of its own says by it which tools it uses."""
    if own is None or own.prefix == interpreter.prefix:
        return {}
    place = f"{interpreter.executable} -m pip install"
    return {n: f"not installed in the project's environment ({place} {n.partition('-')[0]})" for n in names}


def _third_party(paths: Sequence[str], read: Read, shape: Layout, interpreter: Interpreter) -> tuple[str, ...]:
    """Installed packages that the project imports by a name of theirs, to be imported once for many runs."""
    scanned = [p for p in paths if p.endswith(".py")][:_SCANNED]
    wanted = {name for path in scanned for name in _imported(read(path) or b"")}
    installed = {d.replace("-", "_") for d in interpreter.distributions}
    return tuple(sorted(w for w in wanted if w.lower() in installed and w not in shape.names))


@lru_cache(_SCANNED)  # the trees that one program looks at have most of their files in common
def _imported(text: bytes) -> frozenset[str]:
    """The first parts of the names that a module imports; none if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(a.name.partition(".")[0] for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)
