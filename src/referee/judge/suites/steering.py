"""Files that a JavaScript runner's configuration loads around the tests: set-up, environments, transforms."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

_KEYS = (
    "setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|environment|snapshotSerializers|resolver|"
    "transform|runner|testRunner|testSequencer|reporters|preset|moduleNameMapper|dependencyExtractor"
)
_GIVEN = re.compile(rf"""\b(?:{_KEYS})["']?\s*:\s*(\[[^\]]*\]|\{{[^}}]*\}}|["'][^"'\n]*["'])""")
_STRING = re.compile(r"""["']([^"'\n]+)["']""")
_ENDS = ("", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", "/index.js", "/index.ts")
CONFIGURATION = re.compile(r"^(?:package\.json|(?:jest|vitest|vite)\.(?:config|workspace)\.\w+)$")


def steering(files: Collection[str], texts: Iterable[str], flags: Iterable[str]) -> tuple[str, ...]:
    """Those of `files` that configuration `texts` or the runner's `flags` name, sorted."""
    named = {n for text in texts for n in _named(text)} | {f.partition("=")[2] or f for f in flags}
    found = set()
    for name in named:
        stem = posixpath.normpath(name.replace("<rootDir>", "."))
        found |= {stem + end for end in _ENDS if stem + end in files}
    return tuple(sorted(found))


def _named(text: str) -> Iterator[str]:
    for given in _GIVEN.finditer(text):
        yield from _STRING.findall(given[1])
