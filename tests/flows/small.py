"""A small repository with a real bug, and replies for a scripted model."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BUGGY = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a + a\n"
FIXED = BUGGY.replace("a - b", "a + b")
TESTS = (
    "from calc import add, double\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
    "def test_double():\n    assert double(4) == 8\n"
)
TARGET = "tests/test_calc.py::test_add"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")


@functools.cache
def lacking(program: str) -> str:
    """Why a language's program cannot be used here; empty if it can."""
    if shutil.which(program) is None:
        return f"{program} is not installed here"
    if program == "cargo":  # perhaps only a launcher, which looks for its toolchains in the home
        asked = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            return f"cargo is there and cannot be used: {asked.stderr.strip()[:200]}"
    return ""


def git(root: Path, *args: str) -> str:
    """The user's own git, with the user's own configuration left out."""
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    done = subprocess.run([*GIT, *args], cwd=root, check=True, capture_output=True, env=env)
    return done.stdout.decode("utf-8", "surrogateescape")


def build(root: Path, files: Mapping[str, str] | None = None, *, commit: bool = True) -> Path:
    """A git repository at `root` with the given files, committed."""
    contents = {"calc.py": BUGGY, "tests/test_calc.py": TESTS} if files is None else files
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    if commit:
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")
    return root


def proposal(path: str = "calc.py", **file: Any) -> dict[str, Any]:
    """A well-formed proposal for one file; the honest fix unless told otherwise."""
    action = file.pop("action", "modify")
    body = file or {"edits": [{"old": "return a - b", "new": "return a + b"}]}
    return {
        "analysis": "add subtracts",
        "root_cause": "the operator is wrong",
        "files": [{"path": path, "action": action, "rationale": "it should add", **body}],
        "test_targets": [],
        "risk": "low",
        "touches_external": False,
    }


def content(text: str, path: str = "calc.py") -> dict[str, Any]:
    """A proposal that replaces a whole file."""
    return proposal(path, content=text)


def script(path: Path, *replies: dict[str, Any] | str) -> str:
    """A scripted model whose generator gives the first reply and whose fixer gives the others, in order."""
    said = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    lines = [("generator", said[0]), *(("fixer", text) for text in said[1:] or said)]
    path.write_text("".join(_line(role, text) for role, text in lines))
    return f"scripted:{path}"


def _line(role: str, text: str) -> str:
    return json.dumps({"role": role, "content": text, "input_tokens": 100, "output_tokens": 50}) + "\n"


def state(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Every file, link and folder under `root`, outside our own folder and git's caches: type, mode and bytes."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name == ".harness" or name.startswith(".harness/"):
            continue
        mode = path.lstat().st_mode
        if path.is_symlink():
            found[name] = ("link", mode, str(path.readlink()).encode())
        elif path.is_dir():
            found[name] = ("folder", mode, b"")
        else:
            found[name] = ("file", mode, path.read_bytes())
    return found
