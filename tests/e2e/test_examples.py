"""The examples run as they are, and do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_minimal_harness_mends_denies_and_lands(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "minimal_harness.py")], capture_output=True, text=True, env=env, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "+print('Hello, world')" in done.stdout
    assert "landed: greet.py; greet.py says print('Hello, world')" in done.stdout
    assert "greet.py: 21 bytes" in done.stdout
    assert "denied" in done.stdout
    assert len((EXAMPLES / "minimal_harness.py").read_text().splitlines()) <= 130
