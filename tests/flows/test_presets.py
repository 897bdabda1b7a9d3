"""Each preset on a small project, from the command; and what no harness should be asked to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import small

from referee.cli import main
from referee.config import load
from referee.domain.errors import Exhausted, UsageError
from referee.domain.preset import made, refuse
from referee.domain.reason import StopReason
from referee.flows import presets
from referee.flows.plan import Ended

MYPY = '[tool.mypy]\nfiles = ["calc.py"]\ndisallow_untyped_defs = true\n'
RUFF = '[tool.ruff]\n[tool.ruff.lint]\nselect = ["F", "I"]\n'
GOOD = small.FIXED
TYPED = GOOD.replace("(a, b)", "(a: int, b: int) -> int").replace("(a)", "(a: int) -> int")
Fix = Callable[..., SimpleNamespace]


@pytest.fixture
def fix(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fix:
    def run(repo: Path, *arguments: str) -> SimpleNamespace:
        code = main(["fix", "--repo", str(repo), "--json", *arguments])
        said = capfd.readouterr()
        report: dict[str, Any] = json.loads(said.out) if said.out else {}
        return SimpleNamespace(code=code, report=report, err=said.err)

    return run


def build(root: Path, calc: str, config: str) -> Path:
    return small.build(root / "repo", {"calc.py": calc, "tests/test_calc.py": small.TESTS, "pyproject.toml": config})


def test_types_are_driven_by_what_the_type_checker_says(tmp_path: Path, fix: Fix) -> None:
    repo = build(tmp_path, GOOD, MYPY)
    half = small.content(TYPED.replace("(a: int) -> int", "(a)"))
    model = small.script(tmp_path / "script.jsonl", half, small.content(TYPED))
    done = fix(repo, "--preset", "types", "--generator", "model", "--model", model)
    assert done.code == 0, (done.report, done.err)
    assert done.report["steps"] == 2 and (repo / "calc.py").read_text() == TYPED
    settings = {s["key"]: s for s in done.report["config"]}
    assert (settings["budget.max_steps"]["value"], settings["budget.max_steps"]["origin"]) == (12, "preset types")


def test_lint_is_mended_without_a_model_where_that_is_enough(tmp_path: Path, fix: Fix) -> None:
    repo = build(tmp_path, "import sys\nimport os\n\nprint( os )\n\n\n" + GOOD, RUFF)
    done = fix(repo, "--preset", "lint")
    assert done.code == 0, (done.report, done.err)
    assert (done.report["generator"], done.report["tokens"]) == ("mechanical", 0)
    assert (repo / "calc.py").read_text() == "import os\n\nprint(os)\n\n\n" + GOOD


def test_deps_repairs_what_an_upgrade_broke(tmp_path: Path, fix: Fix) -> None:
    """The new version is there already, and a caller still uses its old name."""
    library = "def total(values):\n    return sum(values)\n"
    files = {
        "vendored.py": library, "calc.py": "import vendored\n\n\ndef add(a, b):\n    return vendored.sum_of([a, b])\n",
        "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    }  # fmt: skip
    repo = small.build(tmp_path / "repo", files)
    edit = small.proposal(edits=[{"old": "sum_of", "new": "total"}])
    model = small.script(tmp_path / "script.jsonl", edit)
    done = fix(repo, "--preset", "deps", "--generator", "model", "--model", model)
    assert done.code == 0 and done.report["targets"] == ["tests/test_calc.py::test_add"]
    assert next(s for s in done.report["config"] if s["key"] == "budget.max_cost_usd")["value"] == "1.00"


def test_a_scaffold_is_judged_by_being_there_and_typed(tmp_path: Path, fix: Fix) -> None:
    repo = build(tmp_path, TYPED, MYPY.replace('["calc.py"]', '["."]') + 'exclude = ["tests"]\n')
    wrong = small.proposal("shop/payments.py", action="create", content="def pay(a: int) -> int:\n    return str(a)\n")
    right = small.proposal("shop/payments.py", content="def pay(a: int) -> int:\n    return a\n", action="create")
    model = small.script(
        tmp_path / "script.jsonl", wrong, right | {"files": [{**right["files"][0], "action": "modify"}]}
    )
    done = fix(repo, "add shop/payments.py with a function pay", "--preset", "scaffold", "--model", model)
    assert done.code == 0, (done.report, done.err)
    assert done.report["touched_files"] == ["shop/payments.py"] and done.report["steps"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("make it better",), 1, "no check that fails"),
        (("make a payments module", "--preset", "scaffold", "--model", "scripted:none"), 2, "names no file"),
        (("add a.py", "--preset", "scaffold"), 2, "makes no new files"),
        (("--preset", "types"), 2, "no type checker is set up"),
        (("--preset", "lint"), 2, "no linter is set up"),
        (("--target", "git push origin main"), 2, "acts on another system"),
        (("deploy it to production",), 2, "no run can take back"),
    ],
)
def test_work_for_no_harness_is_refused_with_the_reason(
    tmp_path: Path, fix: Fix, arguments: tuple[str, ...], code: int, words: str
) -> None:
    repo = small.build(tmp_path / "repo", {"calc.py": GOOD, "tests/test_calc.py": small.TESTS})
    before = small.state(repo)
    done = fix(repo, *arguments)
    assert done.code == code, done.err
    assert words in done.err + json.dumps(done.report)
    assert small.state(repo) == before


@pytest.mark.parametrize(
    "text",
    [
        "Send invoices to customers fails with KeyError",
        "release the lock when the database is idle",
        "drop users twice",
    ],
)
def test_a_described_fault_is_no_deed(text: str) -> None:
    refuse(text, ())


@pytest.mark.parametrize("target", ["npm publish", "terraform apply", "aws s3 rm x", "/usr/bin/git -C . push"])
def test_a_target_that_acts_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="acts on another system"):
        refuse("", (target,))


@pytest.mark.parametrize(
    "target",
    ["npm test", "git diff --exit-code", "terraform validate", "tests/test_a.py::test_x"],
)
def test_a_target_that_looks_is_not(target: str) -> None:
    refuse("deploy to production", (target,))


def test_a_slow_target_is_no_basis_for_a_loop() -> None:
    with pytest.raises(Exhausted, match="at most 60 s") as refused:
        presets.quick(SimpleNamespace(target_ms=75_000))  # type: ignore[arg-type]
    assert refused.value.reason is StopReason.JUDGE_UNRELIABLE


def test_a_small_change_without_a_test_is_remarked_on() -> None:
    ended = Ended(reason=StopReason.SOLVED)
    diff = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert "a plain edit would have been cheaper" in presets.cheaper_by_hand(ended, diff)
    assert not presets.cheaper_by_hand(ended.model_copy(update={"targets": ("t",)}), diff)
    assert not presets.cheaper_by_hand(ended, diff + b"+c\n+d\n")


def test_a_scaffold_makes_what_is_not_there() -> None:
    assert made("add src/shop/pay.py beside src/shop/cart.py", ("src/shop/cart.py",)) == ("src/shop/pay.py",)
    with pytest.raises(UsageError, match="exists already"):
        made("add cart.py", ("cart.py",))


def test_a_preset_s_defaults_give_way(tmp_path: Path) -> None:
    flags = {"preset": "types", "budget.max_steps": 3}
    config = load(str(tmp_path), flags=flags, variables={}, user_file="")
    assert (config.budget.max_steps, str(config.budget.max_cost_usd)) == (3, "1.00")
