"""What a proposal may change: source patterns minus everything that decides about it (E2, B6)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from referee.domain.value import Value

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Git-ignore patterns. Tests, and every file through which code could steer the interpreter or the judge.
TESTS = ("tests/", "test/", "test_*.py", "*_test.py", "conftest.py", "__snapshots__/")
JUDGE = (
    "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py", ".coveragerc",
    "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", "referee.toml", ".pre-commit-config.yaml",
    "sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo", "*.so", "*.pyd", "*.dll", "*.dylib",
    "__pycache__/", "*.dist-info/", "*.egg-info/", "*.egg-link", "entry_points.txt", "py.test", "pytest.py",
    "pytest/", "_pytest/", "pluggy/", "setup.py", "requirements*.txt", "*.lock", "uv.toml", "poetry.toml",
    ".github/", ".gitlab-ci.yml", ".ci/", ".circleci/", "Jenkinsfile", "azure-pipelines.yml",
    ".git/", ".gitmodules", ".gitattributes", ".gitignore", ".harness/", ".venv/", "venv/", "node_modules/",
    ".env", ".env.*", ".envrc", "*.pem", "id_rsa*", "id_ed25519*",
)  # fmt: skip


class Protection(Value):
    """`source` are the patterns a proposal may change (empty: everything); `protected` adds to the built-in list."""

    source: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()

    @cached_property
    def _guarded(self) -> GitIgnoreSpec:
        return _spec((*TESTS, *JUDGE, *self.protected))

    @cached_property
    def _source(self) -> GitIgnoreSpec:
        return _spec(tuple(p.rstrip("/") + "/" if "." not in p and "*" not in p else p for p in self.source))

    def guarded(self, path: str) -> bool:
        """Whether `path` decides about proposals and is therefore read-only while they are judged."""
        return bool(self._guarded.match_file(path) or self._guarded.match_file(path.casefold()))

    def objection(self, path: str) -> str | None:
        """Why a proposal may not change `path`, with the allowed alternative; None if it may."""
        if self.guarded(path):
            return f"{path} is protected (tests and judge configuration are not the author's to change)"
        if self.source and not self._source.match_file(path):
            return f"{path} is outside the allowed source patterns {', '.join(self.source)}"
        return None

    def select(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The protected ones among `paths`, sorted."""
        return tuple(sorted(p for p in paths if self.guarded(p)))


def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    # Imported here: building the command line's help must not pay for it.
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)
