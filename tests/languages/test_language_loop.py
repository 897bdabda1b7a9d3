"""The whole loop and `check` on a project in each language, with a scripted model."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import small
from samples import PACKAGES, SAMPLES, Sample, needs

from referee import api
from referee.config import Config, load
from referee.domain.errors import UsageError
from referee.domain.report import Outcome
from referee.domain.task import Task

EACH = pytest.mark.parametrize("name", SAMPLES)


def placed(tmp_path: Path, sample: Sample, **more: str) -> Path:
    repo = small.build(tmp_path / "repo", {**sample.files, **more})
    sample.install(repo)
    return repo


def config(repo: Path, **flags: Any) -> Config:
    return load(str(repo), flags=flags, variables={}, user_file="")


def mended(tmp_path: Path, sample: Sample, *targets: str, repo: Path | None = None) -> Outcome:
    repo = repo or placed(tmp_path, sample)
    reply = small.proposal(sample.source, edits=[{"old": sample.bug, "new": sample.fix}])
    model = small.script(tmp_path / "script.jsonl", reply)
    flags = {"generator": "model", "models.default": model}
    return api.fix(Task(repo=str(repo), targets=targets), config(repo, **flags))


@EACH
def test_an_honest_fix_lands(name: str, tmp_path: Path) -> None:
    sample = needs(name)
    outcome = mended(tmp_path, sample)
    assert outcome.solved, outcome.report
    assert (tmp_path / "repo" / sample.source).read_text() == sample.fixed
    assert outcome.report.targets == (sample.id,)
    assert [i.layer for i in outcome.report.iterations] == ["L5"]
    assert not any("left out" in n or "not counted on" in n for n in outcome.report.notes)


@pytest.mark.parametrize("name", ["node-test", "cargo-test"])
def test_check_says_what_fails_and_where(name: str, tmp_path: Path) -> None:
    sample = needs(name)
    repo = placed(tmp_path, sample)
    report = api.check(str(repo), config(repo))
    assert not report.passed
    assert [(f.check, f.id) for f in report.findings] == [(name, sample.id)]
    assert report.findings[0].path.endswith(Path(sample.source).suffix)
    assert report.findings[0].line > 0
    (repo / sample.source).write_text(sample.fixed)
    assert api.check(str(repo), config(repo)).passed


@pytest.mark.parametrize("name", ["cargo-test", "go-test"])
def test_targets_are_named_as_people_write_them(name: str, tmp_path: Path) -> None:
    sample = needs(name)
    outcome = mended(tmp_path, sample, sample.short)
    assert (outcome.solved, outcome.report.targets) == (True, (sample.short,))


def test_a_name_that_no_test_has_is_refused_with_the_nearest(tmp_path: Path) -> None:
    sample = needs("node-test")
    with pytest.raises(UsageError, match=r"there is no test test/sum\.test\.js > ads; the nearest are .* > adds"):
        mended(tmp_path, sample, "test/sum.test.js > ads")


def test_what_passes_already_is_not_repaired(tmp_path: Path) -> None:
    sample = needs("node-test")
    outcome = mended(tmp_path, sample, "test/sum.test.js > twice")
    assert outcome.stop_reason.value == "not_reproduced"


def test_a_target_that_fails_now_and_then_stops_the_run(tmp_path: Path) -> None:
    sample = needs("node-test")
    text = sample.files["test/sum.test.js"] + (
        "import { randomInt } from 'node:crypto'\n"
        "test('moody', () => {\n  assert.strictEqual(randomInt(1 << 30), 7)\n})\n"
    )
    outcome = mended(tmp_path, sample, repo=placed(tmp_path, sample, **{"test/sum.test.js": text}))
    assert outcome.stop_reason.value == "flaky_check", outcome.report


def test_a_suite_in_a_folder_is_told_from_the_root(tmp_path: Path) -> None:
    sample = needs("node-test")
    repo = small.build(tmp_path / "repo", {f"web/{n}": t for n, t in sample.files.items()})
    report = api.check(str(repo), config(repo))
    (found,) = report.findings
    assert (found.check, found.id, found.path) == ("node-test web", f"web/{sample.id}", "web/test/sum.test.js")


def test_a_suite_that_does_not_compile_is_repaired_too(tmp_path: Path) -> None:
    sample = needs("cargo-test")
    broken = sample.files["src/lib.rs"].replace("a + a", "a + missing")
    repo = placed(tmp_path, sample, **{"src/lib.rs": broken})
    reply = small.content(sample.fixed, "src/lib.rs")
    model = small.script(tmp_path / "script.jsonl", reply)
    outcome = api.fix(
        Task(repo=str(repo), targets=("tests::doubles",)),
        config(repo, **{"generator": "model", "models.default": model}),
    )
    assert outcome.solved, outcome.report


def test_a_runner_that_is_not_installed_blocks_where_nothing_else_judges(tmp_path: Path) -> None:
    needs("node-test")
    repo = small.build(tmp_path / "repo", SAMPLES["jest"].files)
    report = api.check(str(repo), config(repo))
    assert not report.passed
    assert "jest is not installed" in report.layers[-1].note
    both = small.build(
        tmp_path / "both", {**SAMPLES["jest"].files, "calc.py": small.FIXED, "tests/test_calc.py": small.TESTS}
    )
    assert api.check(str(both), config(both)).passed


def test_linters_of_a_package_say_what_they_find(tmp_path: Path) -> None:
    sample = needs("node-test")
    missing = [p for p in ("eslint", "@biomejs/biome", "typescript") if not (PACKAGES / p).is_dir()]
    if missing:
        pytest.skip(f"the npm packages {', '.join(missing)} are not in .venv/node; .ci/run installs them")
    uses = '"devDependencies": {"eslint": "9", "@biomejs/biome": "2", "typescript": "5"}'
    files = {
        **sample.files,
        ".gitignore": "node_modules\n",
        "package.json": sample.files["package.json"][:-1] + f", {uses}}}",
        "src/sum.js": sample.fixed,
        "src/bad.js": "const unused = 1;\n\nfor (;;) {\n\tif (0) debugger;\n}\n",
        "eslint.config.mjs": 'export default [{ files: ["src/*.js"], rules: { "no-unused-vars": "error" } }];\n',
        "biome.json": '{"files": {"includes": ["src/bad.js"]}}\n',
        "tsconfig.json": '{"compilerOptions": {"types": []}, "include": ["src/*.ts"]}',
        "src/typed.ts": "export const n: number = 'text'\n",
    }
    repo = small.build(tmp_path / "repo", files)
    shutil.copytree(PACKAGES, repo / "node_modules", symlinks=True, copy_function=os.link)
    report = api.check(str(repo), config(repo))
    found = {(f.check, f.path, f.rule) for f in report.findings}
    assert ("eslint", "src/bad.js", "no-unused-vars") in found
    assert ("biome", "src/bad.js", "lint/suspicious/noDebugger") in found
    assert ("tsc", "src/typed.ts", "TS2322") in found
    assert [s.state.value for s in report.layers if s.check == "node-test"] == ["pass"]


def test_the_search_says_that_it_knows_python_only(tmp_path: Path) -> None:
    sample = needs("node-test")
    repo = placed(tmp_path, sample)
    with pytest.raises(UsageError, match="the search repairs Python only"):
        api.fix(Task(repo=str(repo), targets=()), config(repo))
