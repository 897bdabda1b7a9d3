"""A warm process that must not be forked is not: every job starts afresh, and a person is told."""

from __future__ import annotations

from pathlib import Path

import environments
from judge_lab import Lab, opened, patch

from referee.domain.verdict import CheckState
from referee.judge import screen, try_gate, try_loop

_THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(600,), daemon=True, name="poller").start()
def plus(a, b): return a + b
"""
FILES = {
    "mod.py": "import polling\n\n\ndef add(a, b):\n    return a - b\n",
    "tests/test_mod.py": "from mod import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    ".gitignore": ".venv/\n",
}


def test_a_library_that_starts_a_thread_on_import_forbids_forking(tmp_path: Path) -> None:
    sandbox = opened()
    made = {"polling.py": _THREAD, "polling-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: polling\nVersion: 1\n"}
    environments.make(tmp_path / "repository" / ".venv", made)
    lab = Lab(tmp_path / "repository", FILES, sandbox, timeout=10_000, max_steps=10_000)
    try:
        assert lab.project().modules == ("polling",)
        bench = lab.bench("tests/test_mod.py::test_add")
        assert any("no warm judge here" in n and "poller" in n for n in lab.notes), lab.notes
        right = patch({"mod.py": "import polling\n\n\ndef add(a, b):\n    return polling.plus(a, b)\n"})
        results = (*try_loop(lab.run, bench, right, False), *try_gate(lab.run, bench, right, False))
        assert [r for r in results if r.state is not CheckState.PASS] == []
        wrong = patch({"mod.py": "import polling\n\n\ndef add(a, b):\n    return a * b\n"})
        assert try_loop(lab.run, bench, wrong, False)[-1].state is CheckState.FAIL
        done = lab.performed().count("execute_warm")
        states = [r.state for r in screen(lab.run, bench, [right, wrong])]
        assert states == [CheckState.PASS, CheckState.FAIL]
        assert (done, lab.performed().count("execute_warm")) == (1, 1), "the warm process was tried once"
        assert lab.performed().count("execute_each") == 6, "two candidates at once are one action"
    finally:
        lab.close()
        sandbox.close()
