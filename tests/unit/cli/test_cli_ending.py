"""Every ending has its exit code and its words; none is a bare traceback."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from referee.cli.ending import ending
from referee.cli.place import repository
from referee.domain.errors import Cancelled, Diverged, Exhausted, Suspended, UsageError, WorldFault
from referee.domain.question import Asking, Question
from referee.domain.reason import StopReason

QUESTION = Question(
    id="q-1",
    run_id="r1",
    kind=Asking.APPROVAL,
    summary="land it?",
    shown="",
    action="land",
    action_digest="",
    asked_at="2026-01-01T00:00:00+00:00",
    expires_at="2026-01-02T00:00:00+00:00",
)


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (UsageError("say so"), 2, "referee: say so\n"),
        (WorldFault("no git"), 69, "referee: no git\n"),
        (Exhausted(StopReason.TIMEOUT), 1, "referee: timeout\n"),
        (
            Suspended(QUESTION),
            4,
            "referee: waiting for a person: land it?; look with `referee questions q-1`, "
            "then `referee answer q-1 yes|no` and `referee resume r1`\n",
        ),
        (Cancelled("x"), 130, "referee: stopped; nothing of yours is half written\n"),
        (KeyboardInterrupt(), 130, "referee: stopped; nothing of yours is half written\n"),
        (
            OSError(errno.ENOSPC, "no", "/x"),
            69,
            "referee: /x: the disk is full; free some space and run the command again\n",
        ),
        (
            OSError(errno.EROFS, "no", "/x"),
            69,
            "referee: /x: the file system is read-only; make it writable or work on a copy\n",
        ),
    ],
)
def test_code_and_words(capsys: pytest.CaptureFixture[str], fault: BaseException, code: int, words: str) -> None:
    assert ending(fault) == code
    assert capsys.readouterr() == ("", words)


def test_words_are_neutralised(capsys: pytest.CaptureFixture[str]) -> None:
    """Case E13."""
    ending(UsageError("no \x1b[2J such"))
    assert capsys.readouterr().err == "referee: no \\x1b[2J such\n"


@pytest.mark.parametrize("fault", [TypeError("odd"), Diverged("odd"), MemoryError("odd"), OSError("odd")])
def test_a_bug_keeps_its_traceback_beside_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: Exception
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".harness").mkdir()
    mark = repository.set(str(tmp_path))
    try:
        raise fault
    except Exception as caught:
        assert ending(caught) == 70
    finally:
        repository.reset(mark)
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    assert f"this is a bug in referee, not in your code: {type(fault).__name__}: odd" in err
    kept = re.search(r"report it with (\S+)", err)
    assert kept is not None and Path(kept.group(1)).parent == tmp_path / ".harness"
    assert "raise fault" in Path(kept.group(1)).read_text()
    assert os.stat(kept.group(1)).st_mode & 0o077 == 0


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_DEBUG", "1")
    try:
        raise UsageError("say so")
    except UsageError as caught:
        assert ending(caught) == 2
    assert "Traceback" in capsys.readouterr().err
