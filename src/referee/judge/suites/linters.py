"""Compilers and linters of other languages that a project shows it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.domain.layer import Layer
from referee.domain.value import Value

_ESLINT = tuple(f"eslint.config.{e}" for e in ("js", "mjs", "cjs", "ts", "mts", "cts"))
_ESLINT_OLD = (".eslintrc", *(f".eslintrc.{e}" for e in ("js", "cjs", "json", "yml", "yaml")))


class Linter(Value):
    """A program that checks code in the folder `home`, whose output `reader` understands.

    It looks at files with the `suffixes` only: a patch that touches none is nothing to it.
    """

    tool: str
    reader: str
    layer: Layer
    run: tuple[str, ...]
    suffixes: tuple[str, ...]
    home: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """What it is called in results and in `skip`."""
        return f"{self.tool} {self.home}" if self.home else self.tool


_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def of_node(home: str, names: frozenset[str], uses: Mapping[str, str]) -> tuple[Linter, ...]:
    """From the configuration files in a package's folder and the packages it depends on."""
    found = []

    def add(tool: str, layer: Layer, file: str, *arguments: str, suffixes: tuple[str, ...] = _SCRIPTS) -> None:
        run = (f"node_modules/.bin/{tool}", *arguments)
        why = f"detected: {_at(home, file)}"
        found.append(
            Linter(tool=tool, reader=tool, layer=layer, run=run, suffixes=suffixes, home=home, why=why)
        )  # fmt: skip

    eslint = next((f for f in (*_ESLINT, *_ESLINT_OLD) if f in names), "")
    if eslint and "eslint" in uses:
        add("eslint", Layer.FORMAT, eslint, "--format", "json", ".")
    biome = next((f for f in ("biome.json", "biome.jsonc") if f in names), "")
    if biome and "@biomejs/biome" in uses:
        add("biome", Layer.FORMAT, biome, "ci", "--reporter=json", "--max-diagnostics=200", ".", suffixes=())
    if "tsconfig.json" in names and "typescript" in uses:
        more = ("--noEmit", "--pretty", "false", "--incremental", "false", "-p", "tsconfig.json")
        add("tsc", Layer.TYPES, "tsconfig.json", *more)
    return tuple(found)


def of_cargo(home: str, workspace: bool) -> tuple[Linter, ...]:
    """The compiler on everything, tests included."""
    run = ("cargo", "check", "--all-targets", *(("--workspace",) if workspace else ()), "--message-format=json", "-q")
    why = f"detected: {_at(home, 'Cargo.toml')}"
    check = Linter(
        tool="cargo-check", reader="cargo", layer=Layer.COMPILE, run=run, suffixes=(".rs",), home=home, why=why
    )
    return (check,)


def of_go(home: str, folders: Sequence[str]) -> tuple[Linter, ...]:
    """gofmt on the module's own files and vet on its packages."""
    why = f"detected: {_at(home, 'go.mod')}"
    own = Linter(
        tool="gofmt", reader="gofmt", layer=Layer.FORMAT, run=("gofmt", "-d", *folders), suffixes=(".go",), home=home,
        why=why,
    )  # fmt: skip
    update = {"tool": "go-vet", "reader": "go-vet", "layer": Layer.COMPILE, "run": ("go", "vet", "./...")}
    return (own, own.model_copy(update=update)) if folders else ()


def _at(home: str, file: str) -> str:
    return f"{home}/{file}" if home else file
