"""What a file in another language uses is shown to a model with it."""

from __future__ import annotations

import pytest

from referee.context.neighbours import neighbours

PATHS = ("src/a.ts", "src/b/index.js", "src/c.tsx", "calc.go", "more.go", "calc_test.go", "x/other.go", "src/lib.rs")


@pytest.mark.parametrize(("path", "text", "used"), [
    ("src/a.test.ts", "import { x } from './a'\nimport y from 'vitest'", ("src/a.ts",)),
    ("test/t.js", "const b = require('../src/b')", ("src/b/index.js",)),
    ("test/t.ts", 'await import("../src/c.js"); import "../src/a.js"', ("src/a.ts", "src/c.tsx")),
    ("calc_test.go", "package calc", ("calc.go", "more.go")),
    ("tests/it.rs", "use calc::add;", ("src/lib.rs",)),
    ("notes.md", "import './a'", ()),
])  # fmt: skip
def test_what_a_file_uses(path: str, text: str, used: tuple[str, ...]) -> None:
    assert neighbours(path, text.encode(), PATHS) == used
