"""What code can find out for certain asks no model, whatever model is configured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import small

from referee.cli import main
from referee.domain.commit_message import Repaired, changelog_entry

PROJECT = '[project]\nname = "calc"\nversion = "1"\ndependencies = ["calc-needs-this"]\n[tool.ruff]\n'


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("docs", "calc.py"), 0),
        (("docs", "calc.py", "--out", "reference"), 0),
        (("docs", "calc.py", "--audit"), 1),
        (("validate", "schema.json", "document.json"), 0),
        (("deps",), 1),
        (("lint", "--fix"), 1),
        (("check", "--plan"), 0),
    ],
)
def test_no_model_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int
) -> None:
    """The model is there, and every call of it would be recorded."""
    files = {"calc.py": "import os\n" + small.FIXED + "\n\nprint(nothing)\n", "pyproject.toml": PROJECT}
    repo = small.build(tmp_path / "repo", files | {"schema.json": "{}", "document.json": "{}"})
    config = tmp_path / "uv.toml"
    config.write_text("no-index = true\n")
    recorded = tmp_path / "calls.jsonl"
    monkeypatch.chdir(repo)
    for name, value in {
        "REFEREE_MODEL": small.script(tmp_path / "script.jsonl", small.proposal()), "REFEREE_RECORD": str(recorded),
        "UV_CONFIG_FILE": str(config), "UV_CACHE_DIR": str(tmp_path / "cache"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert main(arguments) == code
    assert not recorded.exists()


def test_a_call_of_the_model_would_have_been_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a repair with the same settings leaves a recording."""
    repo = small.build(tmp_path / "repo")
    monkeypatch.setenv("REFEREE_MODEL", small.script(tmp_path / "script.jsonl", small.proposal()))
    monkeypatch.setenv("REFEREE_RECORD", str(tmp_path / "calls.jsonl"))
    assert main(["fix", "--repo", str(repo), "--generator", "model", "-q"]) == 0
    assert os.path.getsize(tmp_path / "calls.jsonl") > 0
    [report] = (repo / ".harness/reports").glob("*.json")
    assert main(["show", report.stem, "--repo", str(repo), "--format", "changelog"]) == 0


def test_a_changelog_entry_is_made_from_the_record() -> None:
    tests, files = ("t.py::a", "t.py::b"), ("a.py", "b.py", "c.py", "d.py")
    made = Repaired(run_id="r", task="Mend discounts.", targets=tests, touched=files)
    said = "* Mend discounts in a.py, b.py and 2 more files (shown by t.py::a and 1 more).\n"
    assert changelog_entry(made) == said
