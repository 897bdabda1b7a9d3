"""From a tool's own report to findings: one reader per form of report, by name."""

from __future__ import annotations

from collections.abc import Mapping

from referee.judge.readers import compilers, gotest, junit, linters, python, rust, scripts
from referee.judge.readers.reading import Output, Reader, Reading, whole

READERS: Mapping[str, Reader] = {
    name: whole(read)
    for name, read in {
        "tsc": compilers.tsc,
        "pyright": compilers.pyright,
        "cargo": compilers.cargo,
        "go-vet": compilers.go_vet,
        "gofmt": compilers.gofmt,
        "eslint": linters.eslint,
        "biome": linters.biome,
        "sarif": linters.sarif,
        "jest": scripts.jest,
        "vitest": scripts.jest,
        "junit": junit.junit,
        "node-test": junit.junit,
        "cargo-test": rust.cargo_test,
        "go-test": gotest.go_test,
        "unittest": python.unittest,
        "coverage": python.coverage,
    }.items()
}

__all__ = ["READERS", "Output", "Reader", "Reading", "whole"]
