"""`check` on projects as they are."""

from __future__ import annotations

from pathlib import Path

import small

from referee import api
from referee.config import load


def test_a_linters_report_of_megabytes_is_read_whole(tmp_path: Path) -> None:
    """An untidy project is not an unreadable one."""
    untidy = "".join(f"l{n} = lambda: {n};\n" for n in range(3_000))
    files = {
        "pyproject.toml": '[tool.ruff.lint]\nselect = ["E"]\n',
        "untidy.py": untidy,
        "calc.py": small.FIXED,
        "tests/test_calc.py": small.TESTS,
    }
    repo = small.build(tmp_path / "repo", files)
    report = api.check(str(repo), load(str(repo), variables={}, user_file=""))
    ruff = next(s for s in report.layers if s.check == "ruff")
    assert (ruff.state.value, ruff.note) == ("fail", "")
    assert len([f for f in report.findings if f.check == "ruff"]) == 6_000
    assert len(report.feedback) <= 4_000
