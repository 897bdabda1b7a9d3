"""What a proposal may change: source patterns minus everything that decides about it (E2, B6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property

from referee.domain.value import Value

# Git-ignore patterns. Tests, and every file through which code could steer the interpreter or the judge.
TESTS = (
    "tests/", "test/", "test_*.py", "*_test.py", "tests.py", "conftest.py", "__snapshots__/", "*.ambr", "*.snap",
    "testdata/", "test_data/", "test-data/", "golden/",
    "*.test.js", "*.test.jsx", "*.test.ts", "*.test.tsx", "*.test.[cm]js", "*.test.[cm]ts",
    "*.spec.js", "*.spec.jsx", "*.spec.ts", "*.spec.tsx", "*.spec.[cm]js", "*.spec.[cm]ts",
    "*-test.js", "*-test.[cm]js", "*_test.js", "*_test.[cm]js", "test.js", "test.[cm]js", "__tests__/", "__mocks__/",
    "__fixtures__/", "*_test.go",
)  # fmt: skip
JUDGE = (
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
    "noxfile.py", ".coveragerc",
    "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", "referee.toml", ".pre-commit-config.yaml",
    "sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo", "*.so", "*.pyd", "*.dll", "*.dylib",
    "__pycache__/", "*.dist-info/", "*.egg-info/", "*.egg-link", "entry_points.txt", "py.test", "pytest.py",
    "pytest/", "_pytest/", "pluggy/", "setup.py", "requirements*.txt", "*.lock", "uv.toml", "poetry.toml",
    ".mcp.json", ".claude/", "hooks.json",
    ".github/", ".gitlab-ci.yml", ".ci/", ".circleci/", "Jenkinsfile", "azure-pipelines.yml",
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc",
    ".yarnrc*", ".yarn/", ".pnp.*", "tsconfig*.json", "jsconfig.json", "jest.config.*", "jest.setup.*", "setupTests.*",
    "vite.config.*", "vitest.config.*", "vitest.setup.*", "vitest.workspace.*", ".mocharc*", "babel.config.*",
    ".babelrc*", ".swcrc", "eslint.config.*", ".eslintrc*", ".eslintignore", "biome.json*",
    "Cargo.toml", ".cargo/", "build.rs", "rust-toolchain*", "clippy.toml", ".clippy.toml", "rustfmt.toml",
    ".rustfmt.toml", "go.mod", "go.sum", "go.work", "go.work.sum", ".golangci.*",
    ".git/", ".gitmodules", ".gitattributes", ".gitignore", ".harness/", ".venv/", "venv/", "node_modules/",
    ".env", ".env.*", ".envrc", "*.pem", "id_rsa*", "id_ed25519*",
)  # fmt: skip


class Protection(Value):
    """`source`: the patterns a proposal may change (empty: everything); `protected` adds to the built-in list.

    With `nothing` no path is guarded: for experiments that show what protection is worth.
    """

    source: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    fresh_tests: bool = False  # Python test files may be added, and nothing else
    nothing: bool = False

    @cached_property
    def _names(self) -> re.Pattern[str]:
        """The patterns that look at one name at a time, which are nearly all."""
        return _any_of(tuple(p for p in (*TESTS, *JUDGE, *self.protected) if "/" not in p.rstrip("/")))

    @cached_property
    def _places(self) -> re.Pattern[str] | None:
        """The patterns that look at a whole path."""
        wanted = tuple(p for p in self.protected if "/" in p.rstrip("/"))
        return _any_of(wanted) if wanted else None

    @cached_property
    def _folders(self) -> dict[str, bool]:
        """Whether a folder is guarded, for those asked about: a large tree asks about few, thousands of times."""
        return {}

    @cached_property
    def _source(self) -> re.Pattern[str]:
        return _any_of(tuple(p.rstrip("/") + "/" if "." not in p and "*" not in p else p for p in self.source))

    def guarded(self, path: str) -> bool:
        """Whether `path` decides about proposals and is therefore read-only while they are judged."""
        if self.nothing:
            return False
        folded = path.casefold()
        return self._matches(path) or (folded != path and self._matches(folded))

    def _matches(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = bool(folder and self._names.match(folder + "/_"))
        if self._folders[folder] or self._names.match(name):
            return True
        return self._places is not None and self._places.match(path) is not None

    def objection(self, path: str) -> str | None:
        """Why a proposal may not change `path`, with the allowed alternative; None if it may."""
        if self.fresh_tests:
            name = path.rpartition("/")[2].casefold()
            test = name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
            fresh = test and not _any_of(JUDGE).match(path.casefold())
            return None if fresh else f"{path} is no test file (test_*.py), and nothing else may be added here"
        if self.guarded(path):
            return f"{path} is protected (tests and judge configuration are not the author's to change)"
        if self.source and not self._source.match(path):
            return f"{path} is outside the allowed source patterns {', '.join(self.source)}"
        return None

    def select(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The protected ones among `paths`, sorted."""
        return tuple(sorted(p for p in paths if self.guarded(p)))


def named_by(pattern: str, path: str) -> bool:
    """Whether a git-ignore pattern names `path`."""
    return _any_of((pattern,)).match(path) is not None


def literal(path: str) -> str:
    """The git-ignore pattern that names exactly `path`, from the root."""
    return "/" + re.sub(r"([\\*?\[\] ])", r"\\\1", path)


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns: asked for every path of a tree, one by one they would cost seconds.

    Raises `ValueError` for a negated pattern: an exception to a protection would be a hole in it.
    """
    # Imported here: building the command line's help must not pay for it.
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    parts = []
    for pattern in patterns:
        regex, include = GitIgnoreSpecPattern.pattern_to_regex(pattern)
        if include is False:
            raise ValueError(f"{pattern!r} is negated; a protection has no exceptions")
        if regex is not None:
            parts.append("(?:" + re.sub(r"\(\?P<\w+>", "(?:", str(regex)) + ")")
    return re.compile("|".join(parts) or r"(?!)", re.DOTALL)
