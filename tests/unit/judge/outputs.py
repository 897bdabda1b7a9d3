"""What other tools write when something is wrong, with the facts that must be told of each: place, error, values.

Recorded reports are those of the readers' own tests; the rest is in the forms of the tools, about one small project.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).parent / "readers" / "recorded"
# name -> (reader, standard output, standard error, exit code, facts)
Said = tuple[str, str, str, int, tuple[str, ...]]


def recorded(reader: str, out: str, err: str, code: int, *facts: str) -> Said:
    """A case made of recorded files."""
    return reader, *((RECORDED / f).read_text() if f else "" for f in (out, err)), code, facts


def _ruff(*rows: tuple[str, int, str, str]) -> str:
    return json.dumps(
        [
            {"filename": f"/repo/{p}", "location": {"row": n, "column": 1}, "code": c, "message": m}
            for p, n, c, m in rows
        ]
    )


_SARIF = json.dumps(
    {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "scan", "rules": [{"id": "B602"}, {"id": "B105"}]}},
                "results": [
                    {
                        "ruleId": rule,
                        "level": "error",
                        "message": {"text": text},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": path},
                                    "region": {"startLine": line},
                                }
                            }
                        ],
                    }
                    for rule, text, path, line in (
                        ("B602", "a shell is started with input from outside", "src/run.py", 14),
                        ("B105", "a password is written in the source", "src/login.py", 3),
                    )
                ],
            }
        ],
    }
)
_JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest" tests="3" failures="1" errors="1">
<testcase classname="tests.test_cart" name="test_total" file="tests/test_cart.py" line="7" time="0.01">
<failure message="assert 90 == 100">def test_total():
&gt;       assert total() == 100
E       assert 90 == 100

tests/test_cart.py:9: AssertionError</failure></testcase>
<testcase classname="tests.test_cart" name="test_empty" time="0.00"/>
<testcase classname="tests.test_shop" name="test_open" file="tests/test_shop.py" line="3" time="0.00">
<error message="failed on setup with &quot;OSError: no disk&quot;">OSError: no disk</error></testcase>
</testsuite></testsuites>
"""
_SUREFIRE = """<testsuite name="shop.CartTest" tests="2" failures="1">
<testcase name="total" classname="shop.CartTest" time="0.004">
<failure message="expected: &lt;100&gt; but was: &lt;90&gt;" type="org.opentest4j.AssertionFailedError">
org.opentest4j.AssertionFailedError: expected: &lt;100&gt; but was: &lt;90&gt;
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at shop.CartTest.total(CartTest.java:21)
</failure></testcase><testcase name="empty" classname="shop.CartTest"/></testsuite>
"""
_UNITTEST_ERROR = """test_a (t.T.test_a) ... FAIL

======================================================================
FAIL: test_a (t.T.test_a)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/repo/t.py", line 9, in test_a
    self.assertEqual(label(90), "1 minute")
AssertionError: '90 seconds' != '1 minute'
- 90 seconds
+ 1 minute


----------------------------------------------------------------------
Ran 1 test in 0.012s

FAILED (failures=1)
"""
_COVERAGE = json.dumps(
    {
        "totals": {"percent_covered": 71.4},
        "files": {"src/a.py": {"missing_lines": [12, 13, 19]}, "b.py": {"missing_lines": []}},
    }
)
_SYNTAX_DIFF = "--- src/a.py\n+++ src/a.py\n@@ -3,2 +3,2 @@\n def f( a ):\n-    return  a+1\n+    return a + 1\n"

REPORTS: dict[str, Said] = {
    "tsc": recorded("tsc", "tsc.txt", "", 2, "src/sum.ts:3", "TS2322", "'string' is not assignable to type 'number'"),
    "eslint": recorded("eslint", "eslint.json", "", 1, "src/a.js:2", "no-undef", "'y' is not defined", "src/b.js:1"),
    "biome": recorded("biome", "biome.json", "", 1, "src/a.js:2", "noDoubleEquals", "src/b.js:1"),
    "pyright": recorded(
        "pyright", "pyright.json", "", 1, "p.py:2", '"int" is not assignable to return type "str"', '"nope"'
    ),
    "cargo": recorded("cargo", "cargo-error.jsonl", "", 101, "src/lib.rs:11", "E0308", "expected `i32`, found `&str`"),
    "rustfmt": recorded(
        "rustfmt", "rustfmt.diff", "rustfmt.err", 1, "src/lib.rs:1", "src/bad.rs:1", "unclosed delimiter"
    ),
    "gofmt": recorded("gofmt", "gofmt.diff", "", 0, "calc/calc.go", "calc/calc_test.go"),
    "go vet": recorded("go-vet", "", "go-vet.err", 2, "calc/calc.go:6", "%d has arg", "wrong type string"),
    "vitest": recorded("vitest", "vitest.json", "", 1, "src/sum.test.ts:4", "expected -1 to be 5", "./missing"),
    "jest": recorded(
        "jest", "jest.json", "", 1, "jt/sum.test.js:2", "Expected: 5", "Received: -1", "Cannot find module"
    ),
    "node:test": recorded("node-test", "node.xml", "", 1, "nt/a.test.js:3", "-1 !== 5", "sum"),
    "cargo test": recorded(
        "cargo-test",
        "cargo-test.out",
        "cargo-test.err",
        101,
        "src/lib.rs:5",
        "left: -1",
        "right: 5",
        "src/lib.rs:9",
        "the len is 0 but the index is 0",
    ),
    "go test": recorded(
        "go-test",
        "go-test.jsonl",
        "",
        1,
        "calc_test.go:3",
        "Add(2, 3) = -1, want 5",
        "nil map",
        "calc/calc_test.go:7",
    ),
    "unittest": recorded(
        "unittest", "", "unittest.txt", 1, "t_unit.py:3", "1 != 2", "KeyError", "3 != 4", "t_unit.py:11"
    ),
    "unittest values": ("unittest", "", _UNITTEST_ERROR, 1, ("t.py:9", "'90 seconds' != '1 minute'", "test_a")),
    "mypy": (
        "mypy",
        'src/a.py:4: error: Argument 1 to "f" has incompatible type "str"; expected "int"  [arg-type]\n'
        'src/b.py:9: error: Name "x" is not defined  [name-defined]\n',
        "",
        1,
        ("src/a.py:4", '"str"; expected "int"', "arg-type", "src/b.py:9", '"x" is not defined'),
    ),
    "mypy flood": (
        "mypy",
        "".join(f'src/m{n % 40}.py:{n}: error: Name "n{n}" is not defined  [name-defined]\n' for n in range(1, 900)),
        "",
        1,
        ("src/m0.py:40", '"n40" is not defined', "name-defined", "899"),
    ),
    "ruff": (
        "ruff",
        _ruff(("src/a.py", 1, "F401", "`os` imported but unused"), ("src/a.py", 7, "F821", "Undefined name `b`")),
        "",
        1,
        ("src/a.py:1", "F401", "`os` imported but unused", "src/a.py:7", "F821", "Undefined name `b`"),
    ),
    "ruff, one rule in many places": (
        "ruff",
        _ruff(*((f"src/m{n}.py", n + 3, "E711", "Comparison to `None`") for n in range(60))),
        "",
        1,
        ("60x", "E711", "Comparison to `None`", "src/m0.py:3", "src/m1.py:4"),
    ),
    "ruff format": ("ruff-format", _SYNTAX_DIFF, "", 1, ("src/a.py:3", "-    return  a+1", "+    return a + 1")),
    "coverage": ("coverage", _COVERAGE, "", 2, ("src/a.py:12", "3 lines are not covered", "71")),
    "sarif": ("sarif", _SARIF, "", 1, ("src/run.py:14", "B602", "a shell is started", "src/login.py:3", "B105")),
    "junit of pytest": (
        "junit",
        _JUNIT,
        "",
        1,
        ("test_total", "tests/test_cart.py:7|tests/test_cart.py:9", "assert 90 == 100", "OSError: no disk"),
    ),
    "junit of a JVM": (
        "junit",
        _SUREFIRE,
        "",
        1,
        ("AssertionFailedError", "expected: <100> but was: <90>", "CartTest.java:21"),
    ),
    "flake8": (
        "lines",
        "./src/a.py:3:5: F841 local variable 'x' is assigned to but never used\n",
        "",
        1,
        ("src/a.py:3", "F841", "'x'"),
    ),
    "gcc by lines": (
        "lines",
        "",
        "src/a.c:12:9: error: 'tot' undeclared (first use in this function); did you mean 'total'?\n",
        1,
        ("src/a.c:12", "'tot' undeclared"),
    ),
}
