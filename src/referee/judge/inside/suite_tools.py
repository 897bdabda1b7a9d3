"""How each test runner is started with a test added that must fail, next to every group of tests it runs."""

# ruff: noqa: TID251 - this starts programs inside the sandbox

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from typing import Any

_JAVASCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "javascript")
_VITEST = tuple(f"{n}.config.{e}" for n in ("vitest", "vite") for e in ("ts", "mts", "cts", "js", "mjs", "cjs"))
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_RUST = """
#[cfg(test)]
mod MODULE {
    #[test]
    fn fails() {
        panic!("SAYS");
    }
}
"""
_GO = """package PACKAGE

import "testing"

func TEST(t *testing.T) {
\tt.Fatal("SAYS")
}
"""
Spec = dict[str, Any]
Start = Callable[[Spec, dict[str, str], str], list[str]]


def _installed(spec: Spec, name: str) -> str:
    """The program of an installed package, in the nearest node_modules up to the repository's root."""
    folder, root = spec["cwd"], spec["root"]
    while True:
        path = os.path.join(folder, "node_modules", ".bin", name)
        if os.path.exists(path):
            return path
        if folder in (root, "/"):
            raise SystemExit(f"{name} is not installed beside the repository's package.json; run: npm install")
        folder = os.path.dirname(folder)


def _write(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _filled(folder: str, template: str, facts: dict[str, Any]) -> str:
    """One of our scripts, with what it must know in its first line."""
    with open(os.path.join(_JAVASCRIPT, template), encoding="utf-8") as file:
        text = file.read()
    return _write(folder, template, f"const facts = {json.dumps(facts)};\n{text}")


def _whole(spec: Spec) -> list[str]:
    return [os.path.join(spec["cwd"], f) for f in spec["files"]]


def _vitest(spec: Spec, canary: dict[str, str], folder: str) -> list[str]:
    paths = (os.path.join(spec["cwd"], name) for name in _VITEST)
    base = next((p for p in paths if os.path.exists(p)), "")
    with open(os.path.join(_JAVASCRIPT, "vitest.mjs"), encoding="utf-8") as file:
        text = file.read()
    first = f"import base from {json.dumps(base)};\n" if base else "const base = {};\n"
    facts = {**canary, "files": _whole(spec)}
    config = _write(folder, "vitest.config.mjs", f"{first}const facts = {json.dumps(facts)};\n{text}")
    return [
        _installed(spec, "vitest"), "run", "--config", config, "--root", spec["cwd"], "--reporter=json",
        f"--outputFile={folder}/report", "--coverage.enabled=false", *spec["chosen"],
    ]  # fmt: skip


def _jest(spec: Spec, canary: dict[str, str], folder: str) -> list[str]:
    program = _installed(spec, "jest")
    shown = subprocess.run(
        [program, "--showConfig"], cwd=spec["cwd"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    try:
        before = [p for c in json.loads(shown.stdout)["configs"] for p in c["setupFilesAfterEnv"]]
    except (ValueError, KeyError):
        raise SystemExit(f"jest does not show its configuration: {shown.stderr.decode('utf-8', 'replace')}") from None
    chosen = ["--runTestsByPath", *spec["chosen"]] if spec["chosen"] else []
    return [
        program, "--ci", "--json", f"--outputFile={folder}/report", "--coverage=false", "--no-watchman",
        f"--cacheDirectory={folder}/cache", "--setupFilesAfterEnv", *dict.fromkeys(before),
        _filled(folder, "jest.cjs", canary), *chosen,
    ]  # fmt: skip


def _node(spec: Spec, canary: dict[str, str], folder: str) -> list[str]:
    preload = _filled(folder, "node.cjs", {**canary, "files": _whole(spec)})
    return [
        "node", "--require", preload, *spec["flags"], "--test",
        f"--test-reporter={_JAVASCRIPT}/reporter.mjs", f"--test-reporter-destination={folder}/report",
        *(spec["chosen"] or spec["files"]),
    ]  # fmt: skip


def _cargo(spec: Spec, canary: dict[str, str], folder: str) -> list[str]:
    """The test goes into each program's own source, last by its name; one thread, so that it also runs last."""
    module = f"zzzz_{canary['name']}"
    text = _RUST.replace("MODULE", module).replace("SAYS", canary["says"])
    for path in spec["files"]:
        with open(os.path.join(spec["cwd"], path), "a", encoding="utf-8") as file:
            file.write(text)
    names = [*spec["chosen"], f"{module}::fails"] if spec["chosen"] else []
    return [
        "cargo", "test", "--no-fail-fast", *spec["flags"], "--", "--test-threads=1",
        *(("--exact", *names) if names else ()),
    ]  # fmt: skip


def _go(spec: Spec, canary: dict[str, str], folder: str) -> list[str]:
    """The test is only in what the compiler sees, not in the folder where the tests run."""
    test = f"TestReferee{canary['name']}"
    replaced = {}
    for number, (where, files) in enumerate(sorted(_by_folder(spec).items())):
        packages = [_PACKAGE.search(_text(f)) for f in files]
        names = [m[1] for m in packages if m]
        if names:
            name = next((n for n in names if n.endswith("_test")), names[0])  # those run after the others
            source = _GO.replace("PACKAGE", name).replace("TEST", test).replace("SAYS", canary["says"])
            replaced[f"{where}/zzzz_{canary['name']}_test.go"] = _write(folder, f"{number}.go", source)
    overlay = _write(folder, "overlay.json", json.dumps({"Replace": replaced}))
    run = [f"-run=^({'|'.join((*spec['chosen'], test))})$"] if spec["chosen"] else []
    return ["go", "test", "-json", "-vet=off", "-count=1", f"-overlay={overlay}", *run, *(spec["flags"] or ["./..."])]


def _by_folder(spec: Spec) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in _whole(spec):
        found.setdefault(os.path.dirname(path), []).append(path)
    return found


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


START: dict[str, Start] = {"vitest": _vitest, "jest": _jest, "node-test": _node, "cargo-test": _cargo, "go-test": _go}
