"""From a tool's own report to findings: one reader per form of report, by name."""

from __future__ import annotations

from collections.abc import Mapping

from referee.judge.readers import compilers, gotest, junit, linters, python, rust, scripts
from referee.judge.readers.reading import Output, Reader, Reading, whole
from referee.plugins import plugins

READERS: Mapping[str, Reader] = {
    name: whole(read)
    for name, read in {
        "tsc": compilers.tsc,
        "pyright": compilers.pyright,
        "cargo": compilers.cargo,
        "rustfmt": compilers.rustfmt,
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


def reader(name: str) -> Reader | None:
    """Ours, else a plugin's, as careful as ours; None if there is none."""
    if name in READERS:
        return READERS[name]
    added = plugins("readers").get(name)
    return None if added is None else whole(added.load())


__all__ = ["READERS", "Output", "Reader", "Reading", "reader", "whole"]
