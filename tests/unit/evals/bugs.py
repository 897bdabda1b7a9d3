"""A small history with bugs in it that somebody fixed, for tasks to be made of."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

OLD = (
    "def add(a, b):\n    return a - b\n\n\nclass Box:\n    def size(self):\n        return 2\n\n\n"
    "def double(a):\n    return a + a\n"
)
NEW = OLD.replace("a - b", "a + b")
TESTS = "from calc import Box, add, double\n\n\ndef test_double():\n    assert double(4) == 8\n"
MORE = (
    TESTS + "\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\ndef test_add_nothing():\n    assert add(0, 4) == 4\n"
    "\n\ndef test_size():\n    assert Box().size() == 2\n"
)
FAILING = ("tests/test_calc.py::test_add", "tests/test_calc.py::test_add_nothing")
_GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")


def git(root: Path, *args: str) -> str:
    """Plain git without anybody's configuration."""
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    return subprocess.run([*_GIT, *args], cwd=root, check=True, capture_output=True, env=env, text=True).stdout


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def history(root: Path) -> str:
    """Three commits: the bug, a change of words, the fix with its tests. The commit of the fix."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for message, files in (
        ("Begin", {"calc.py": OLD, "tests/test_calc.py": TESTS}),
        ("Say more", {"README.md": "calculates\n"}),
        ("Fix adding", {"calc.py": NEW, "tests/test_calc.py": MORE}),
    ):
        write(root, files)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD").strip()


def archive(folder: Path, version: str, files: Mapping[str, str]) -> None:
    """A source archive `calc-VERSION.tar.gz`."""
    with tarfile.open(folder / f"calc-{version}.tar.gz", "w:gz") as packed:
        for name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"calc-{version}/{name}")
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))


def releases(folder: Path) -> None:
    """Two releases that differ in one function."""
    archive(folder, "1.0", {"calc.py": OLD, "tests/test_calc.py": MORE})
    archive(folder, "1.1", {"calc.py": NEW, "tests/test_calc.py": MORE})
