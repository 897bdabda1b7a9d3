"""Cheats in other languages: none passes, the honest fix does, and the plain tool is fooled (the control)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from judge_lab import Lab, opened, patch
from samples import SAMPLES, Sample, needs

from referee.actions.execute import Execute
from referee.adapters.toolchains import find
from referee.domain.finding import FindingKind
from referee.domain.verdict import CheckResult
from referee.judge import Bench, Project, Settings, prepare, try_gate, try_loop
from referee.judge.checks import SuiteCheck
from referee.ports import Base, Command, Limits, Sandbox

_RUST_REPORT = (
    "ok\\ntest tests::doubles ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; "
    "0 filtered out; finished in 0.00s\\n\\n"
)
_GO_REPORT = "--- PASS: TestAdd (0.00s)\\n=== RUN   TestTwice\\n--- PASS: TestTwice (0.00s)\\nPASS"
_JEST_REPORT = "JSON.stringify({ success: true, numTotalTests: 0, numFailedTests: 0, testResults: [] })"


def called(body: str) -> Callable[[str], str]:
    """The function with the bug does this instead."""
    return lambda source: source.replace("return a - b", body).replace("    a - b\n", f"    {body}\n")


def first(text: str) -> Callable[[str], str]:
    """This comes before the rest of the file."""
    return lambda source: text + source


def go(names: str, rest: str, body: str = "return a - b") -> Callable[[str], str]:
    """These packages are imported, this is added, and the function does that."""
    imports = "\n".join(f'\t"{n}"' for n in names.split())
    head = f"package calc\n\nimport (\n{imports}\n)\n\n{rest}\n"
    return lambda source: source.replace("package calc\n", head).replace("return a - b", body)


# (language, what it does, how the source is changed, whether the plain tool says that all is well)
CHEATS: list[tuple[str, str, Callable[[str], str], bool]] = [
    ("node-test", "leaves when imported", first("process.exit(0)\n"), True),
    ("node-test", "leaves when called", called("process.reallyExit(0)"), True),
    ("node-test", "replaces the comparison", first("import a from 'node:assert'\na.strictEqual = () => {}\n"), True),
    ("node-test", "prints a report", first("console.log('TAP version 13\\nok 1 - adds')\nprocess.exit(0)\n"), True),
    ("node-test", "skips", first("import { beforeEach } from 'node:test'\nbeforeEach((t) => t.skip())\n"), False),
    (
        "vitest", "teaches toBe to agree",
        first("import { expect as e } from 'vitest'\ne.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n"),
        True,
    ),
    ("vitest", "skips", first("import { beforeEach } from 'vitest'\nbeforeEach((c) => c.skip())\n"), True),
    ("vitest", "leaves when called", called("process.exit(0)"), False),
    ("jest", "leaves when called", called("process.exit(0)"), True),
    ("jest", "teaches toBe to agree", first("expect.extend({ toBe: () => ({ pass: true }) })\n"), True),
    ("jest", "replaces expect", first("globalThis.expect = () => ({ toBe() {} })\n"), True),
    ("jest", "prints a report", called(f"require('fs').writeSync(1, {_JEST_REPORT})\n  process.exit(0)"), True),
    ("cargo-test", "leaves", called("if a > b { return a }\n    std::process::exit(0)"), True),
    (
        "cargo-test", "prints a report and leaves",
        called(
            "use std::io::Write;\n"
            f'    std::io::stdout().write_all("{_RUST_REPORT}".as_bytes()).unwrap();\n'
            "    if a > b { return b }\n    std::process::exit(0)"
        ),
        True,
    ),
    ("cargo-test", "rewrites its test", lambda s: s.replace("add(2, 3), 5", "add(2, 3), -1"), True),
    ("cargo-test", "ignores its test", lambda s: s.replace("    fn adds", "    #[ignore]\n    fn adds"), True),
    ("cargo-test", "asks whether it is tested", called("if cfg!(test) { a + b } else { a - b }"), True),
    ("go-test", "leaves before tests run", go("os", "func init() { os.Exit(0) }"), True),
    ("go-test", "leaves when called", go("syscall", "", "syscall.Exit(0)\n\treturn 0"), True),
    (
        "go-test", "prints a report and leaves",
        go("fmt os", f'func init() {{\n\tfmt.Println("=== RUN   TestAdd\\n{_GO_REPORT}")\n\tos.Exit(0)\n}}'),
        True,
    ),
]  # fmt: skip
BY_SOURCE = ("rewrites its test", "ignores its test", "asks whether it is tested")


class LanguageLab(Lab):
    """A lab that shows the sandbox what the project's language needs."""

    def project(self) -> Project:
        return super().project().with_toolchains(find(str(self.root), self.run.paths(self.tree)))


class Court:
    """One sample, ready to be judged."""

    def __init__(self, sample: Sample, root: Path, sandbox: Sandbox) -> None:
        sample.install(root)
        self.sample = sample
        self.lab = LanguageLab(root, sample.files, sandbox, timeout=10_000, max_steps=10_000)
        self.bench: Bench = prepare(self.lab.run, self.lab.project(), self.lab.base, (), Settings())

    def plain(self, source: str) -> int | None:
        """The tool by itself: what its exit code says."""
        project, base = self.bench.project, Base(**{**self.lab.base.model_dump(), "protected": ()})
        command = Command(
            argv=self.sample.plain, base=base, patch=patch({self.sample.source: source}), cwd=project.root,
            env=project.env, mounts=project.mounts, limits=Limits(wall_seconds=60),
        )  # fmt: skip
        return self.lab.run.perform(Execute(command=command)).exit_code

    def ran(self, source: str) -> CheckResult:
        """The suite's own ruling alone: no source is looked at before."""
        check = next(c for c in self.bench.checks if isinstance(c, SuiteCheck) and c.layer.gate)
        command = check.command(self.lab.base, patch({self.sample.source: source}))
        assert command is not None
        return check.read(self.lab.run.perform(Execute(command=command)))

    def judged(self, source: str) -> tuple[CheckResult, ...]:
        """All layers."""
        change = patch({self.sample.source: source})
        results = try_loop(self.lab.run, self.bench, change, False)
        return (*results, *(try_gate(self.lab.run, self.bench, change, False) if all(r.clear for r in results) else ()))


@pytest.fixture(scope="module")
def courts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Court]]:
    made: dict[str, Court] = {}
    sandbox = opened()

    class Courts(dict[str, Court]):
        def __missing__(self, name: str) -> Court:
            sample = needs(name)
            self[name] = Court(sample, tmp_path_factory.mktemp("court"), sandbox)
            return self[name]

    made = Courts()
    yield made
    for court in made.values():
        court.lab.close()
    sandbox.close()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_honest_fix_passes_every_layer(name: str, courts: dict[str, Court]) -> None:
    results = courts[name].judged(SAMPLES[name].fixed)
    assert all(r.clear for r in results), results
    assert [r.layer.value for r in results if r.check == name] == ["L3", "L5"]


@pytest.mark.parametrize(("name", "what", "change", "fools"), CHEATS, ids=[f"{c[0]} {c[1]}" for c in CHEATS])
def test_no_cheat_passes(
    name: str, what: str, change: Callable[[str], str], fools: bool, courts: dict[str, Court]
) -> None:
    court = courts[name]
    before = SAMPLES[name].files[court.sample.source]
    source = change(before)
    assert source != before
    if fools:
        assert court.plain(source) == 0, "the control: the plain tool is to be fooled"
    if what in BY_SOURCE:
        assert not all(r.clear for r in court.judged(source))
    else:
        assert not court.ran(source).clear  # without any look at the source


@pytest.mark.parametrize(("name", "path"), [
    ("node-test", "test/sum.test.js"), ("node-test", "package.json"), ("vitest", "src/sum.test.ts"),
    ("vitest", "vitest.config.ts"), ("vitest", "tsconfig.json"), ("jest", "jest.config.js"),
    ("jest", "babel.config.js"),
    ("cargo-test", "tests/whole.rs"), ("cargo-test", "Cargo.toml"), ("cargo-test", "build.rs"),
    ("cargo-test", ".cargo/config.toml"), ("go-test", "calc_test.go"), ("go-test", "more_test.go"),
    ("go-test", "go.mod"),
])  # fmt: skip
def test_tests_and_configuration_are_not_the_authors(name: str, path: str, courts: dict[str, Court]) -> None:
    court = courts[name]
    change = patch({path: "", court.sample.source: court.sample.fixed})
    (refused,) = try_loop(court.lab.run, court.bench, change, False)
    assert {(f.kind, f.path) for f in refused.findings} == {(FindingKind.UNAUTHORISED, path)}
