"""What a project is judged with: found in its unpatched tree, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.judge import layout
from referee.judge.layout import Layout
from referee.judge.pytest_config import PytestConfig, Read, ini, load, toml, wanted_plugins
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

    `uses` are the names of the checks the project is set up for. `tools` holds those of them that need a program;
    one that is used but not in `tools` is missing.
    """

    root: str
    interpreter: Interpreter
    config: PytestConfig
    layout: Layout
    uses: tuple[str, ...]
    tools: Mapping[str, Tool]
    modules: tuple[str, ...] = ()
    mypy_whole: bool = False
    formats_new: bool = False
    toolchains: tuple[Toolchain, ...] = ()
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
            "TERM": "dumb",
            "COLUMNS": "120",
        }

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

    def missing(self) -> tuple[str, ...]:
        """Checks the project is set up for whose program is nowhere to be found."""
        return tuple(u for u in self.uses if u not in self.tools and u not in _BUILT_IN)


def detect(
    root: str,
    paths: Sequence[str],
    read: Read,
    *,
    interpreter: Interpreter,
    own: Interpreter | None = None,
    protection: Protection | None = None,
) -> Project:
    """Look at a tree: `paths` and `read` are of the unpatched one. `own` is referee's interpreter, for its tools."""
    guarded = frozenset((protection or Protection()).select(paths))
    config, pyproject = load(read), toml(read("pyproject.toml"))
    roots = (*config.pythonpath, *layout.configured_roots(pyproject))
    shape = layout.of(paths, config.python_files, roots, guarded)
    tables = (pyproject or {}).get("tool", {})
    uses = _uses(tables, paths, read, config, shape)
    programs = (u for u in uses if u not in _BUILT_IN)
    tools = {u: tool for u in programs if (tool := _tool(u, interpreter, own)) is not None}
    files = ("mypy.ini", ".mypy.ini", "setup.cfg")
    mypy = tables.get("mypy", {}) or next((m for f in files if (m := (ini(read(f)) or {}).get("mypy"))), {})
    return Project(
        root=root,
        interpreter=interpreter,
        config=config,
        layout=shape,
        uses=uses,
        tools=tools,
        modules=_third_party(paths, read, shape, interpreter),
        mypy_whole=any(k in mypy for k in ("files", "packages", "modules")),
        formats_new="format" in tables.get("ruff", {}),
        note=interpreter.note,
    )


def variables(toolchains: Sequence[Toolchain]) -> dict[str, str]:
    """What all toolchains ask for in the environment."""
    return {name: value for t in toolchains for name, value in t.env.items()}


def search_path(prefix: str, toolchains: Sequence[Toolchain]) -> str:
    """Where commands look for programs: the project's Python first, the system's last."""
    return ":".join((f"{prefix}/bin", *(p for t in toolchains for p in t.path), "/usr/local/bin:/usr/bin:/bin"))


def _uses(
    tables: Mapping[str, object], paths: Sequence[str], read: Read, config: PytestConfig, shape: Layout
) -> tuple[str, ...]:
    known, found = set(paths), []
    if "ruff" in tables or "ruff.toml" in known or ".ruff.toml" in known:
        found += ["ruff", "ruff-format"]
    setup = ini(read("setup.cfg")) or {}
    if "mypy" in tables or "mypy" in setup or "mypy.ini" in known or ".mypy.ini" in known:
        found.append("mypy")
    if any(p.endswith(".py") for p in paths):
        found.append("syntax")
    if config.present or shape.tests:
        found.append("pytest")
    return tuple(found)


def _tool(name: str, interpreter: Interpreter, own: Interpreter | None) -> Tool | None:
    """From the project's environment when it is there, else referee's own."""
    program = name.partition("-")[0]
    for place in (interpreter, own):
        if place is None or program not in place.distributions:
            continue
        if program == "mypy":
            argv = (place.executable, "-I", "-B", "-m", "mypy", f"--python-executable={interpreter.executable}")
            return Tool(argv=argv, mounts=place.mounts)
        if program in place.scripts:
            return Tool(argv=(f"{place.prefix}/bin/{program}",), mounts=place.mounts)
    return None


def _third_party(paths: Sequence[str], read: Read, shape: Layout, interpreter: Interpreter) -> tuple[str, ...]:
    """Installed packages that the project imports by a name of theirs, to be imported once for many runs."""
    wanted: set[str] = set()
    for path in [p for p in paths if p.endswith(".py")][:_SCANNED]:
        try:
            tree = ast.parse(read(path) or b"")
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                wanted.update(a.name.partition(".")[0] for a in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                wanted.add(node.module.partition(".")[0])
    installed = {d.replace("-", "_") for d in interpreter.distributions}
    return tuple(sorted(w for w in wanted if w.lower() in installed and w not in shape.names))
