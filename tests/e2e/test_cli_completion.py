"""Shell completion in the shells themselves; where one is not installed, what it would be told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = {
    "bash": 'eval "$(_REFEREE_COMPLETE=source_bash referee)"; COMP_WORDS=(referee fix --max); COMP_CWORD=2; '
    '_referee_completion referee; printf "%s\\n" "${COMPREPLY[@]}"',
    "zsh": 'compdef() { :; }; eval "$(_REFEREE_COMPLETE=source_zsh referee)"; words=(referee fix --max); CURRENT=3; '
    '_arguments() { print -l -- "$@"; }; _referee_completion',
    "fish": '_REFEREE_COMPLETE=source_fish referee | source; complete -C "referee fix --max"',
}
QUIET = {"bash": ["--norc", "-c"], "zsh": ["-fc"], "fish": ["--no-config", "-c"]}
TOLD = {"_TYPER_COMPLETE_ARGS": "referee fix --max", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_options_are_completed(shell: str, tmp_path: Path) -> None:
    beside = str(Path(sys.executable).parent)
    env = {"PATH": f"{beside}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    argv = [shell, *QUIET[shell], SCRIPTS[shell]]
    if shutil.which(shell) is None:
        argv, env = ["referee"], env | TOLD | {"_REFEREE_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert all(option in done.stdout for option in ("--max-steps", "--max-tokens", "--max-cost"))
    assert "--model" not in done.stdout
