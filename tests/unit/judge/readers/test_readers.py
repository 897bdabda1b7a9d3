"""Each reader on what its tool really wrote about a small project with known defects, and on what it never wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.domain.finding import Finding
from referee.judge.readers import READERS, Output, Reading

RECORDED = Path(__file__).parent / "recorded"
# reader: files of standard output and error, exit code
SAID = {
    "tsc": ("tsc.txt", "", 2),
    "eslint": ("eslint.json", "", 1),
    "biome": ("biome.json", "", 1),
    "pyright": ("pyright.json", "", 1),
    "cargo": ("cargo-error.jsonl", "", 101),
    "rustfmt": ("rustfmt.diff", "rustfmt.err", 1),
    "gofmt": ("gofmt.diff", "", 0),
    "go-vet": ("", "go-vet.err", 2),
    "vitest": ("vitest.json", "", 1),
    "jest": ("jest.json", "", 1),
    "node-test": ("node.xml", "", 1),
    "cargo-test": ("cargo-test.out", "cargo-test.err", 101),
    "go-test": ("go-test.jsonl", "", 1),
    "unittest": ("", "unittest.txt", 1),
}
RUNNERS = ("vitest", "jest", "node-test", "cargo-test", "go-test", "unittest")


def output(reader: str, **change: object) -> Output:
    out, err, code = SAID[reader]
    texts = {name: (RECORDED / file).read_text() if file else "" for name, file in (("stdout", out), ("stderr", err))}
    return Output(check=reader, root="/repo", exit_code=code, **texts).model_copy(update=change)


def read(reader: str, **change: object) -> Reading:
    return READERS[reader](output(reader, **change))


def places(found: tuple[Finding, ...]) -> list[tuple[str, int, str]]:
    return [(f.path, f.line, f.rule) for f in found]


LINTED = {
    "tsc": [("src/sum.ts", 2, "TS6133"), ("src/sum.ts", 3, "TS2322"), ("src/sum.ts", 5, "TS2322")],
    "eslint": [("src/a.js", 1, "no-unused-vars"), ("src/a.js", 2, "no-undef"), ("src/b.js", 1, "syntax")],
    "biome": [("src/a.js", 2, "lint/suspicious/noDoubleEquals"), ("src/b.js", 1, "parse"), ("src/sum.ts", 0, "format")],
    "pyright": [
        ("p.py", 2, "reportReturnType"),
        ("p.py", 4, "reportArgumentType"),
        ("p.py", 5, "reportMissingImports"),
    ],
    "cargo": [("src/lib.rs", 11, "E0308")],
    "rustfmt": [("src/lib.rs", 1, "format"), ("src/bad.rs", 1, "syntax")],
    "gofmt": [("calc/calc.go", 0, "format"), ("calc/calc_test.go", 0, "format")],
    "go-vet": [("calc/calc.go", 6, "vet")],
}


@pytest.mark.parametrize("reader", LINTED)
def test_defects_are_found_where_they_are(reader: str) -> None:
    reading = read(reader)
    assert not reading.strange
    assert set(LINTED[reader]) <= set(places(reading.findings))
    assert reading.outcomes is None


def test_what_only_warns_does_not_count() -> None:
    rules = {f.rule for f in (*read("eslint").findings, *read("biome").findings)}
    assert not rules & {"eqeqeq", "lint/correctness/noUnusedVariables"}
    warned = (RECORDED / "cargo-warning.jsonl").read_text()
    assert READERS["cargo"](Output(check="c", root="/repo", stdout=warned, stderr="", exit_code=0)) == Reading()


def test_clippy_is_read_by_the_reader_of_cargo() -> None:
    said = (RECORDED / "cargo-clippy.jsonl").read_text()
    reading = READERS["cargo"](Output(check="c", root="/repo", stdout=said, stderr="", exit_code=101))
    assert places(reading.findings) == [
        ("src/lib.rs", 3, "clippy::needless_return"), ("src/lib.rs", 6, "clippy::ptr_arg"),
    ]  # fmt: skip


def test_rustfmt_names_places_in_the_words_of_each_version() -> None:
    older = read("rustfmt", stdout="Diff in /repo/src/lib.rs at line 7:\n x\n-y\n", stderr="")
    assert places(older.findings) == [("src/lib.rs", 7, "format")]
    assert read("rustfmt", stdout="", stderr="", exit_code=0) == Reading()
    assert read("rustfmt", stdout="", stderr="error: no such command: `fmt`").strange


# reader: (test, path, line, error, expected, actual) of one failure; tests that passed; tests that were skipped
RAN = {
    "vitest": (
        ("src/sum.test.ts > sum > adds", "src/sum.test.ts", 4, "AssertionError", "5", "-1"),
        ["src/sum.test.ts > sum > adds zero"], ["src/sum.test.ts > sum > later"],
    ),
    "jest": (
        ("jt/sum.test.js > sum > adds", "jt/sum.test.js", 2, "Error", "5", "-1"),
        ["jt/sum.test.js > sum > zero"], ["jt/sum.test.js > sum > later", "jt/sum.test.js > sum > td"],
    ),
    "node-test": (
        ("sum::adds", "nt/a.test.js", 3, "AssertionError", "5", "-1"),
        ["top passes"], ["sum::skipped", "sum::todo"],
    ),
    "cargo-test": (
        ("src/lib.rs::tests::adds", "src/lib.rs", 5, "AssertionFailed", "5", "-1"),
        ["src/lib.rs::tests::panics", "src/lib.rs::tests::zero", "tests/integration.rs::it"],
        ["src/lib.rs::tests::later"],
    ),
    "go-test": (
        ("example.com/demo/calc.TestAdd", "calc_test.go", 3, "failed", "5", "-1"),
        ["example.com/demo/calc.TestZero", "example.com/demo/calc.TestTable/c"], ["example.com/demo/calc.TestSkip"],
    ),
    "unittest": (
        ("t_unit.T.test_a", "t_unit.py", 3, "AssertionError", "2", "1"),
        ["t_unit.T.test_b"], ["t_unit.T.test_c", "t_unit.T.test_e"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("reader", RUNNERS)
def test_failures_have_their_place_and_values_and_every_test_its_outcome(reader: str) -> None:
    (test, path, line, error, expected, actual), passed, skipped = RAN[reader]
    reading = read(reader)
    assert not reading.strange
    found = next(f for f in reading.findings if f.id == test)
    assert (found.path, found.line, found.error, found.expected, found.actual) == (path, line, error, expected, actual)
    outcomes = reading.outcomes or {}
    assert [t for t, o in outcomes.items() if o == "passed" and t in passed] == passed
    assert [t for t, o in outcomes.items() if o == "skipped"] == skipped
    assert outcomes[test] == "failed"


@pytest.mark.parametrize("reader", ["vitest", "jest"])
def test_a_file_that_cannot_be_loaded_is_a_finding(reader: str) -> None:
    found = [f for f in read(reader).findings if f.phase == "collect"]
    assert len(found) == 1
    assert "Cannot find module" in found[0].message


def test_a_panic_names_the_users_own_line() -> None:
    found = next(f for f in read("go-test").findings if f.error == "panic")
    assert (found.path, found.line, found.message) == ("calc/calc_test.go", 7, "assignment to entry in nil map")


# gofmt ends with 0 whatever it finds
@pytest.mark.parametrize("reader", [r for r in SAID if r != "gofmt"])
def test_failures_in_a_report_are_not_believed_with_exit_code_0(reader: str) -> None:
    assert read(reader, exit_code=0).strange


@pytest.mark.parametrize("reader", [*SAID, "coverage", "sarif", "junit"])
def test_silence_with_a_failing_exit_code_is_not_a_pass(reader: str) -> None:
    silent = Output(check=reader, root="/repo", stdout="", stderr="", exit_code=1)
    assert READERS[reader](silent).strange


@pytest.mark.parametrize("reader", RUNNERS)
def test_a_runner_that_reports_nothing_did_not_run(reader: str) -> None:
    """A test file that ends the program with 0 would otherwise have nothing wrong."""
    silent = Output(check=reader, root="/repo", stdout="", stderr="", exit_code=0)
    reading = READERS[reader](silent)
    assert reading.strange or not reading.outcomes


@pytest.mark.parametrize("reader", [*SAID, "coverage", "sarif", "junit"])
@pytest.mark.parametrize("text", ["[]", "{}", "null", "<testsuites", "\ud83d", "[[[[", '{"diagnostics": 3}', "a:1: b"])
def test_no_output_makes_a_reader_stumble(reader: str, text: str) -> None:
    for code in (0, 1, 2, 101, None):
        READERS[reader](Output(check=reader, root="/repo", stdout=text, stderr=text, exit_code=code))


@pytest.mark.parametrize(
    "reader", ["vitest", "jest", "node-test", "go-test", "cargo-test", "eslint", "biome", "pyright"]
)
def test_a_report_that_was_cut_off_is_never_a_pass(reader: str) -> None:
    text = output(reader).stdout
    for at in range(0, len(text), max(1, len(text) // 60)):
        for code in (0, output(reader).exit_code):
            reading = READERS[reader](output(reader, stdout=text[:at], exit_code=code))
            assert reading.strange or reading.findings, f"cut at {at} with exit code {code}"


def test_a_killed_tool_did_not_run() -> None:
    assert "wall" in read("tsc", killed_by="wall").strange


def test_an_xml_report_that_declares_entities_is_refused() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa">]><testsuites/>'
    assert "entities" in READERS["junit"](Output(check="j", root="/repo", stdout=bomb, stderr="", exit_code=0)).strange


def test_sarif_of_any_tool() -> None:
    log = """{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t", "rules": [
      {"id": "R1", "messageStrings": {"m": {"text": "no {0}"}}},
      {"id": "R2", "defaultConfiguration": {"level": "note"}}]}}, "results": [
      {"ruleId": "R1", "message": {"id": "m", "arguments": ["x"]}, "locations": [{"physicalLocation":
        {"artifactLocation": {"uri": "file:///repo/a.c"}, "region": {"startLine": 3}}}]},
      {"ruleId": "R2", "message": {"text": "only a note"}},
      {"ruleId": "R1", "message": {"text": "accepted"}, "suppressions": [{"kind": "inSource"}]}]}]}"""
    reading = READERS["sarif"](Output(check="s", root="/repo", stdout=log, stderr="", exit_code=0))
    assert [(f.path, f.line, f.rule, f.message) for f in reading.findings] == [("a.c", 3, "R1", "no x")]


def test_coverage_below_what_is_asked_names_the_lines() -> None:
    files = '{"a.py": {"missing_lines": [3, 4]}, "b.py": {"missing_lines": []}}'
    report = f'{{"totals": {{"percent_covered": 80.0}}, "files": {files}}}'
    said = Output(check="coverage", root="/repo", stdout=report, stderr="", exit_code=2)
    found = READERS["coverage"](said).findings
    assert [(f.path, f.line, f.message) for f in found] == [("a.py", 3, "2 lines are not covered (total 80 %)")]
    assert READERS["coverage"](said.model_copy(update={"exit_code": 0})) == Reading()
