"""A small project in each language with the same bug: `add` subtracts, and one of two tests shows it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from small import lacking

PACKAGES = Path(__file__).parents[2] / ".venv/node/node_modules"  # installed by .ci/run
_JS = "function add(a, b) {\n  return a - b\n}\n\nfunction twice(a) {\n  return a + a\n}\n"
_TS = _JS.replace("(a, b)", "(a: number, b: number): number").replace("(a)", "(a: number): number")
_EXPECTING = (
    "describe('sum', () => {\n  it('adds', () => {\n    expect(add(2, 3)).toBe(5)\n  })\n"
    "  it('twice', () => {\n    expect(twice(4)).toBe(8)\n  })\n})\n"
)
_ASSERTING = (
    "import test from 'node:test'\nimport assert from 'node:assert'\nimport { add, twice } from '../src/sum.js'\n\n"
    "test('adds', () => {\n  assert.strictEqual(add(2, 3), 5)\n})\n\n"
    "test('twice', () => {\n  assert.strictEqual(twice(4), 8)\n})\n"
)
_RUST = (
    "/// Twice.\n///\n/// ```\n/// assert_eq!(calc::twice(2), 4);\n/// ```\npub fn twice(a: i32) -> i32 {\n"
    "    a + a\n}\n\n"
    "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
    "    #[test]\n    fn adds() {\n        assert_eq!(add(2, 3), 5);\n    }\n\n"
    "    #[test]\n    fn doubles() {\n        assert_eq!(twice(4), 8);\n    }\n}\n"
)
_GO = "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n\nfunc Twice(a int) int {\n\treturn a + a\n}\n"
_GO_TEST = (
    'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n'
    '\t\tt.Fatalf("Add(2, 3) = %d, want 5", got)\n\t}\n}\n\n'
    'func TestTwice(t *testing.T) {\n\tif Twice(4) != 8 {\n\t\tt.Fatal("no")\n\t}\n}\n'
)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """`source` holds `bug`, which `fix` replaces; `id` is the failing test and `short` another name of it."""

    program: str
    files: dict[str, str]
    source: str
    bug: str
    fix: str
    id: str
    short: str
    plain: tuple[str, ...]
    packages: tuple[str, ...] = ()

    @property
    def fixed(self) -> str:
        """The source without the bug."""
        return self.files[self.source].replace(self.bug, self.fix)

    def install(self, root: Path) -> None:
        """The node packages that it needs, as npm would leave them."""
        if self.packages:
            shutil.copytree(PACKAGES, root / "node_modules", symlinks=True, copy_function=os.link)


_ADDS = {"bug": "return a - b", "fix": "return a + b"}
SAMPLES = {
    "node-test": Sample(
        program="node", source="src/sum.js", id="test/sum.test.js > adds", short="test/sum.test.js",
        plain=("node", "--test"), **_ADDS,
        files={
            "package.json": '{"name": "n", "type": "module", "scripts": {"test": "node --test"}}',
            "src/sum.js": _JS.replace("function", "export function"),
            "test/sum.test.js": _ASSERTING,
        },
    ),
    "vitest": Sample(
        program="node", source="src/sum.ts", id="src/sum.test.ts > sum > adds", short="src/sum.test.ts > sum",
        plain=("node_modules/.bin/vitest", "run"), packages=("vitest", "typescript"), **_ADDS,
        files={
            ".gitignore": "node_modules\n",
            "package.json": '{"name": "v", "type": "module", "devDependencies": {"vitest": "3", "typescript": "5"}}',
            "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", '
            '"skipLibCheck": true, "types": []}, "include": ["src"]}',
            "src/sum.ts": _TS.replace("function", "export function"),
            "src/sum.test.ts": "import { describe, expect, it } from 'vitest'\nimport { add, twice } from './sum'\n\n"
            + _EXPECTING,
        },
    ),
    "jest": Sample(
        program="node", source="src/sum.js", id="src/sum.test.js > sum > adds", short="src/sum.test.js",
        plain=("node_modules/.bin/jest",), packages=("jest",), **_ADDS,
        files={
            ".gitignore": "node_modules\n",
            "package.json": '{"name": "j", "scripts": {"test": "jest"}, "devDependencies": {"jest": "29"}}',
            "src/sum.js": _JS + "\nmodule.exports = { add, twice }\n",
            "src/sum.test.js": "const { add, twice } = require('./sum')\n\n" + _EXPECTING,
        },
    ),
    "cargo-test": Sample(
        program="cargo", source="src/lib.rs", bug="    a - b\n", fix="    a + b\n", id="src/lib.rs::tests::adds",
        short="tests::adds", plain=("cargo", "test"),
        files={
            ".gitignore": "target\n",
            "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": _RUST,
            "tests/whole.rs": "#[test]\nfn whole() {\n    assert_eq!(calc::twice(3), 6);\n}\n",
        },
    ),
    "go-test": Sample(
        program="go", source="calc.go", id="example.org/calc.TestAdd", short="calc.TestAdd",
        plain=("go", "test", "./..."), **_ADDS,
        files={"go.mod": "module example.org/calc\n\ngo 1.18\n", "calc.go": _GO, "calc_test.go": _GO_TEST},
    ),
}  # fmt: skip


def needs(name: str) -> Sample:
    """The sample of that name; skips the test, with the reason, where its tools are not installed."""
    sample = SAMPLES[name]
    if why := lacking(sample.program):
        pytest.skip(why)
    missing = [p for p in sample.packages if not (PACKAGES / p).is_dir()]
    if missing:
        pytest.skip(f"the npm packages {', '.join(missing)} are not in .venv/node; .ci/run installs them")
    return sample
