"""What continuous integration runs, run here: the action's script on the sample project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from referee.cli.sample import sample

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    with sample(None) as folder:
        yield Path(folder)


def step(shop: Path, folder: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """The action's second step: exit code, summary, outputs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    [run] = [s for s in action["runs"]["steps"] if s.get("id") == "run"]
    summary, output = folder / "summary", folder / "output"
    env = {
        **os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "ACTION": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(folder), **inputs,
    }  # fmt: skip
    assert set(run["env"]) >= set(inputs)
    done = subprocess.run(["bash", "-c", run["run"]], cwd=shop, env=env, capture_output=True, timeout=300, check=False)
    rows = output.read_text().splitlines() if output.exists() else []
    return done.returncode, summary.read_text() if summary.exists() else "", dict(r.split("=", 1) for r in rows)


@pytest.mark.slow
def test_a_check_and_a_fix_leave_their_reports(shop: Path, tmp_path: Path) -> None:
    code, said, outputs = step(shop, tmp_path, MODE="check", ARGUMENTS="")
    assert code == 1 and "voucher" in said and Path(outputs["sarif"]).exists()
    other = tmp_path / "fix"
    other.mkdir()
    arguments = "--generator=search\n--land=none\n--max-steps=1\n--target=tests/test_money.py"
    code, said, outputs = step(shop, other, MODE="fix", TASK="$(touch hacked); `touch hacked`", ARGUMENTS=arguments)
    assert code == 1 and outputs["run"] in said and not (shop / "hacked").exists()


def test_another_mode_is_refused(shop: Path, tmp_path: Path) -> None:
    assert step(shop, tmp_path, MODE="dance")[0] == 2


def test_no_input_is_part_of_a_script() -> None:
    """Text of strangers (titles, branches) reaches scripts as variables only."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    scripts = [s["run"] for s in action["runs"]["steps"]]
    assert len(scripts) == 2 and all("${{" not in s for s in scripts)


@pytest.mark.parametrize("file", ["action.yml", "integrations/gitlab.yml", ".pre-commit-hooks.yaml"])
def test_definitions_are_valid_yaml(file: str) -> None:
    assert yaml.safe_load((ROOT / file).read_text())
