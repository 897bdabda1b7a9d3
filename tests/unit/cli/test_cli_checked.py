"""What `referee check` shows and writes."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from referee.cli import checked
from referee.domain.errors import UsageError
from referee.domain.finding import Finding
from referee.domain.layer import Layer
from referee.domain.report import CheckReport, IsolationStamp, check_report
from referee.domain.verdict import CheckResult, CheckState
from referee.judge import compress

FOUND = Finding(check="ruff", id="a.py:F401", path="a.py", line=1, rule="F401", message="unused \x1b[31mx")
GOOD = CheckResult(check="syntax", layer=Layer.COMPILE, state=CheckState.PASS, duration_ms=40)
BAD = CheckResult(check="ruff", layer=Layer.FORMAT, state=CheckState.FAIL, findings=(FOUND,), duration_ms=1_230)
GONE = CheckResult(check="mypy", layer=Layer.TYPES, state=CheckState.NOT_RUN, note="not installed")


def report(*results: CheckResult) -> CheckReport:
    stamp = IsolationStamp(backend="userns", level="full")
    return check_report(results, compress(results)).model_copy(update={"isolation": stamp})


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_a_row_per_check_and_one_line_that_sums_up(capfd: pytest.CaptureFixture[str]) -> None:
    checked.show(report(BAD, GONE, GOOD))
    out = capfd.readouterr().out
    assert out.splitlines()[:3] == [
        "L0  fail     ruff       1.23 s",
        "L1  not run  mypy       0.00 s  not installed",
        "L2  pass     syntax     0.04 s",
    ]
    assert "a.py:1 [F401] unused" in out and "\x1b" not in out
    assert out.endswith("sandbox  userns, full\n1 of 3 checks passed in 1.3 s, findings: 1: failed\n")
    checked.show(report(GOOD))
    assert capfd.readouterr().out.endswith("\n1 of 1 checks passed in 0.0 s: passed\n")


@pytest.mark.parametrize("colours", [True, False])
def test_a_terminal_gets_the_same_words_in_colours(monkeypatch: pytest.MonkeyPatch, colours: bool) -> None:
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    bare = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(bare, encoding="utf-8"))
    checked.show(report(BAD, GONE, GOOD))
    sys.stdout.flush()
    shown = bare.getvalue().decode()
    assert ("\x1b[1;31mfail" in shown) == colours
    assert "\x1b[31mx" not in shown, "what a tool said never steers the terminal"
    flat = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "L1  not run  mypy       0.00 s  not installed" in flat
    assert flat.endswith("findings: 1: failed\n")


def test_results_are_written_to_files_by_their_names(tmp_path: Path) -> None:
    files = [str(tmp_path / n) for n in ("a.sarif", "b.xml", "c.json")]
    checked.writable(files)
    checked.write(report(BAD), files)
    assert json.loads(Path(files[0]).read_text())["runs"][0]["results"][0]["ruleId"] == "ruff/F401"
    assert "<testsuites" in Path(files[1]).read_text()
    assert json.loads(Path(files[2]).read_text())["schema"] == "referee.check/1"


@pytest.mark.parametrize(("name", "words"), [("a.html", "must end with one of"), ("no/such/a.xml", "make it first")])
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        checked.writable([str(tmp_path / name)])
