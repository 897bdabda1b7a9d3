"""A test suite of another language: which runner, where, and how its tests are named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from referee.domain.value import Value

Kind = Literal["vitest", "jest", "node-test", "cargo-test", "go-test"]
_SUFFIXES = {
    "javascript": (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), "cargo-test": (".rs",),
    "go-test": (".go",), "python": (".py", ".pyi"),
}  # fmt: skip
JAVASCRIPT = ("vitest", "jest", "node-test")
_GO = re.compile(r"^(?P<package>.*?)\.(?P<test>(?:Test|Example|Fuzz)\w*(?:/.*)?)$")
_LINE = re.compile(r" \(line \d+\)")


class Suite(Value):
    """Tests that `kind` runs in the folder `home` (relative, empty for the root).

    `files` are where tests are: JavaScript's and Go's test files, Rust's crate roots, relative to `home`. `flags` go
    to the runner. `guarded` (from the repository's root) are files that nobody may change: those beside Rust's
    integration tests, and those that JavaScript's configuration loads around the tests. `why` says how it was found.
    """

    kind: Kind
    home: str = ""
    files: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    why: str = ""

    @property
    def name(self) -> str:
        """What it is called in results and in `skip`; with its folder, since a repository may hold several."""
        return f"{self.kind} {self.home}" if self.home else self.kind

    def concerns(self, path: str) -> bool:
        """Whether a change of this file may matter to it: anything but another language's source may."""
        own = "javascript" if self.kind in JAVASCRIPT else self.kind
        return not path.endswith(tuple(s for language, ends in _SUFFIXES.items() if language != own for s in ends))

    def at_root(self, test: str) -> str:
        """A test's id as the runner gives it, told from the repository's root."""
        if self.kind == "cargo-test":
            test = _LINE.sub("", test)  # of a doc test, which moves when anything above it changes
        return test if not self.home or self.kind == "go-test" else f"{self.home}/{test}"

    def group(self, test: str) -> str:
        """What runs in one process with it: its file, its program, its package."""
        if self.kind == "go-test":
            match = _GO.match(test)
            return match["package"] if match else test
        return test.partition(" > " if self.kind in JAVASCRIPT else "::")[0]

    def names(self, target: str, test: str) -> bool:
        """Whether `target`, as a person writes it, means this test or something that holds it."""
        target = target.removeprefix("./").rstrip("/")
        if self.kind in JAVASCRIPT:
            return test == target or test.startswith((f"{target} > ", f"{target}/"))
        if self.kind == "cargo-test":
            whole = f"::{test}::"
            return f"::{target}::" in whole and (whole.startswith(f"::{target}::") or not _is_file(target))
        match = _GO.match(test)
        if match is None:
            return test == target
        package, _, wanted = target.rpartition(".")
        if not _GO.match(f"x.{wanted}"):
            package, wanted = target, ""
        inside = not wanted or match["test"] == wanted or match["test"].startswith(wanted + "/")
        return inside and (not package or f"/{match['package']}".endswith(f"/{package.strip('/')}"))

    def claims(self, target: str) -> bool:
        """Whether a target is written as this suite's tests are; that there is one shows later."""
        plain = target.removeprefix("./").rstrip("/")
        if self.kind in JAVASCRIPT:
            file = plain.partition(" > ")[0]
            return any(f == file or f.startswith(file + "/") for f in self.at_home)
        if self.kind == "go-test":
            named = plain.rpartition(".")[2]
            return bool(_GO.match(f"x.{named}")) and " " not in plain and not plain.endswith(".go")
        parts = plain.split("::")
        rust = all(re.fullmatch(r"[A-Za-z_]\w*", p) for p in parts[1:]) and len(parts) > 1
        return plain in self.at_home or (rust and (parts[0] in self.at_home or not _is_file(parts[0])))

    @property
    def at_home(self) -> tuple[str, ...]:
        """Its files as seen from the root."""
        return tuple(f"{self.home}/{f}" if self.home else f for f in self.files)

    def chosen(self, tests: Iterable[str], targets: Sequence[str]) -> tuple[str, ...]:
        """What to give the runner so that it runs these tests; by file, or where that cannot be, by name."""
        ids = tuple(tests)
        if self.kind in JAVASCRIPT:
            prefix = f"{self.home}/" if self.home else ""
            files = (i.partition(" > ")[0].removeprefix(prefix) for i in (*ids, *targets))
            return tuple(dict.fromkeys(f for f in files if f in self.files))
        if self.kind == "cargo-test":
            if not ids or any(" - " in i for i in ids):  # doc tests have names that cannot be told exactly
                return ()
            return tuple(dict.fromkeys(i.partition("::")[2] for i in ids))
        matches = [m for i in ids if (m := _GO.match(i))]
        return tuple(dict.fromkeys(re.escape(m["test"].partition("/")[0]) for m in matches))


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith(".rs")
