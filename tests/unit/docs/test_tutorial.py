"""The tutorial works: its blocks run one after the other, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT

TEXT = (ROOT / "docs" / "tutorial.md").read_text()
STEPS = re.findall(r"^## (\d)\. .*?```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL)


def test_each_step_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [number for number, _, _ in STEPS] == list("1234567") and TEXT.count("```python") == len(STEPS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "tutorial"}
    for number, code, said in STEPS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"step {number}", "exec"), scope)
        assert printed.getvalue() == said, f"step {number}"
