"""What a tree shows of other languages, how their tests are named, and what a patch may not bring."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from referee.domain.patch import FileChange, FileContent
from referee.domain.protection import Protection
from referee.judge.suites.detect import Found, other_languages
from referee.judge.suites.suite import Suite
from referee.judge.suites.suspect import lost_tests, suspect


def found(files: Mapping[str, str]) -> Found:
    return other_languages(sorted(files), lambda p: files[p].encode(), Protection())


def package(**more: object) -> str:
    return json.dumps({"name": "x", **more})


def test_a_python_project_has_none() -> None:
    assert found({"calc.py": "", "tests/test_calc.py": ""}) == Found()


@pytest.mark.parametrize(("told", "file", "kind"), [
    ({"devDependencies": {"vitest": "3"}}, "src/a.test.ts", "vitest"),
    ({"scripts": {"test": "vitest run"}}, "src/a.spec.tsx", "vitest"),
    ({"devDependencies": {"jest": "29"}}, "src/__tests__/a.js", "jest"),
    ({"scripts": {"test": "node --import tsx --test"}}, "test/a.js", "node-test"),
])  # fmt: skip
def test_the_runner_is_the_one_that_the_package_names(told: dict[str, object], file: str, kind: str) -> None:
    (suite,) = found({"package.json": package(**told), file: "", "src/a.ts": ""}).suites
    assert (suite.kind, suite.files) == (kind, (file,))


def test_how_node_loads_files_is_kept_and_which_it_runs_is_not() -> None:
    script = "tsc && node --import tsx --test-timeout=5 --test src/**/*.test.ts --experimental-strip-types"
    files = {"package.json": package(scripts={"test": script}), "src/a.test.ts": ""}
    assert found(files).suites[0].flags == ("--import", "tsx", "--experimental-strip-types")


def test_files_that_the_configuration_loads_around_tests_are_guarded() -> None:
    config = "export default { test: { environment: 'node', setupFiles: ['./scripts/prepare'] }, entry: './src/a.ts' }"
    jest = {"globalSetup": "<rootDir>/scripts/before.js"}
    files = {
        "web/package.json": package(devDependencies={"vitest": "3"}, jest=jest), "web/vitest.config.ts": config,
        "web/scripts/prepare.ts": "", "web/scripts/before.js": "", "web/src/a.ts": "", "web/src/a.test.ts": "",
    }  # fmt: skip
    assert found(files).suites[0].guarded == ("web/scripts/before.js", "web/scripts/prepare.ts")


def test_nested_packages_have_their_own_suites_and_dependencies_none() -> None:
    vitest = package(devDependencies={"vitest": "3"})
    files = {
        "package.json": vitest, "a.test.ts": "", "web/package.json": vitest, "web/b.test.ts": "",
        "node_modules/x/package.json": vitest, "node_modules/x/c.test.ts": "",
    }  # fmt: skip
    assert [(s.name, s.files) for s in found(files).suites] == [
        ("vitest", ("a.test.ts",)),
        ("vitest web", ("b.test.ts",)),
    ]


def test_linters_are_those_that_are_configured_and_depended_on() -> None:
    uses = {"eslint": "9", "typescript": "5", "@biomejs/biome": "2"}
    files = {"package.json": package(devDependencies=uses), "tsconfig.json": "{}", "eslint.config.mjs": ""}
    assert [(li.name, li.layer.value) for li in found(files).linters] == [("eslint", "L0"), ("tsc", "L1")]
    assert not found({"package.json": package(), "tsconfig.json": "{}"}).linters


def test_a_workspace_of_crates_is_one_suite_with_a_program_for_each_root() -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["a"]\n', "a/Cargo.toml": '[package]\nname = "a"\n', "a/src/lib.rs": "",
        "a/src/deep/mod.rs": "", "a/tests/it.rs": "", "a/tests/common/mod.rs": "", "a/src/bin/tool.rs": "",
    }  # fmt: skip
    (suite,) = found(files).suites
    assert suite.files == ("a/src/bin/tool.rs", "a/src/lib.rs", "a/tests/it.rs")
    assert suite.flags == ("--workspace",)
    assert "a/tests/common/mod.rs" in suite.guarded
    assert [li.name for li in found(files).linters] == ["cargo-check"]


def test_broken_manifests_are_the_tools_to_complain_about() -> None:
    assert found({"package.json": "{", "Cargo.toml": "= =", "a.test.ts": ""}) == Found()


NAMES = [
    ("vitest", "src/a.test.ts > sum > adds", "src/a.test.ts > sum > adds", True),
    ("vitest", "src/a.test.ts > sum", "src/a.test.ts > sum > adds", True),
    ("vitest", "./src/a.test.ts", "src/a.test.ts > sum > adds", True),
    ("vitest", "src/a.test.ts > su", "src/a.test.ts > sum > adds", False),
    ("cargo-test", "tests::adds", "src/lib.rs::tests::adds", True),
    ("cargo-test", "adds", "src/lib.rs::tests::adds", True),
    ("cargo-test", "tests", "src/lib.rs::tests::adds", True),
    ("cargo-test", "src/lib.rs::tests::adds", "src/lib.rs::tests::adds", True),
    ("cargo-test", "tests::add", "src/lib.rs::tests::adds", False),
    ("cargo-test", "tests::adds", "src/lib.rs::more_tests::adds", False),
    ("go-test", "calc.TestAdd", "example.org/calc.TestAdd", True),
    ("go-test", "TestAdd", "example.org/calc.TestAdd/zero", True),
    ("go-test", "example.org/calc.TestAdd/zero", "example.org/calc.TestAdd/zero", True),
    ("go-test", "alc.TestAdd", "example.org/calc.TestAdd", False),
    ("go-test", "calc.TestAdd", "example.org/calc.TestAddAll", False),
]


@pytest.mark.parametrize(("kind", "target", "test", "means"), NAMES)
def test_what_a_target_means(kind: str, target: str, test: str, means: bool) -> None:
    suite = Suite.model_validate({"kind": kind, "files": ("src/a.test.ts",)})
    assert suite.names(target, test) == means


@pytest.mark.parametrize(("kind", "target", "claimed"), [
    ("vitest", "src/a.test.ts > sum > adds", True), ("vitest", "src/a.test.ts", True), ("vitest", "make test", False),
    ("cargo-test", "tests::adds", True), ("cargo-test", "tests/test_a.py::test_b", False),
    ("go-test", "calc.TestAdd", True), ("go-test", "TestAdd", True), ("go-test", "make", False),
])  # fmt: skip
def test_which_targets_a_suite_claims(kind: str, target: str, claimed: bool) -> None:
    suite = Suite.model_validate({"kind": kind, "files": ("src/a.test.ts",)})
    assert suite.claims(target) == claimed


def change(path: str, after: str | None) -> FileChange:
    return FileChange(path=path, after=None if after is None else FileContent(data=after.encode()))


@pytest.mark.parametrize(("path", "text"), [
    ("a.ts", "if (process.env.VITEST) x()"), ("a.js", "import t from 'node:test'"), ("a.js", "process.reallyExit(0)"),
    ("a.js", "require('fs').readFileSync('/proc/self/environ')"), ("a.rs", "if cfg!(test) { }"),
    ("a.rs", 'println!("test result: ok. 1 passed");'), ("a.go", 'import "testing"'), ("a.go", "syscall.Exit(0)"),
    ("a.go", "//go:linkname f runtime.f"),
])  # fmt: skip
def test_what_only_matters_to_a_judge_is_tampering_where_a_patch_brings_it(path: str, text: str) -> None:
    assert [f.kind.value for f in suspect("c", change(path, text), b"")] == ["tamper"]
    assert not suspect("c", change(path, text + "\n// more"), text.encode())


@pytest.mark.parametrize(("path", "text"), [
    ("a.ts", "process.exit(1) // not in VITEST"), ("a.js", "const s = 'see cfg!(test)'"), ("a.rs", "// cfg(test)"),
    ("a.rs", "fn f<'a>(x: &'a str) -> &'a str { x }"), ("a.go", 'os.Exit(2) // "testing"'), ("a.py", "cfg!(test)"),
    ("a.go", 's := "a test.value"'), ("a.js", "node.test(x); spec.expect('vitest is a tool')"),
])  # fmt: skip
def test_ordinary_code_is_not(path: str, text: str) -> None:
    assert not suspect("c", change(path, text), b"")


RUST = (
    "/// ```\n/// f();\n/// ```\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n"
    '    #[test]\n    fn t() { assert!("}" != "{"); }\n}\n'
)


@pytest.mark.parametrize("after", [
    RUST.replace("!=", "=="), RUST.replace("#[cfg(test)]", ""), RUST.replace("f();", "// f();"), None,
    RUST.replace("    #[test]\n", "    #[test]\n    #[ignore]\n"),
])  # fmt: skip
def test_tests_within_a_rust_source_must_stay(after: str | None) -> None:
    assert [f.rule for f in lost_tests("c", change("a.rs", after), RUST.encode())] == ["tests within"]


def test_code_around_tests_may_change_and_new_tests_may_come() -> None:
    after = RUST.replace("fn f() {}", "fn f() { g() }\nfn g() {}") + "#[cfg(test)]\nmod more {}\n"
    assert not lost_tests("c", change("a.rs", after), RUST.encode())
