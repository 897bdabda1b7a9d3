"""One repository, several projects: each has its own Python, its own settings and its own tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import environments
import pytest
from judge_lab import Lab

from referee import api
from referee.adapters.python import find
from referee.config import load
from referee.domain.protection import Protection
from referee.domain.task import Task
from referee.judge import home

Build = Callable[..., Lab]
SEVERAL = ("pyproject.toml", "services/api/pyproject.toml", "services/web/setup.py", "tests/data/pkg/pyproject.toml")


@pytest.mark.parametrize(
    ("paths", "meant", "wanted"),
    [
        (SEVERAL, ["services/api/tests/test_a.py::test_a"], "services/api"),
        (SEVERAL, ["services/api/x.py", "services/api"], "services/api"),
        (SEVERAL, ["services/api/x.py", "services/web/y.py"], ""),
        (SEVERAL, ["tests/data/pkg/x.py"], ""),
        (SEVERAL, ["setup/x.py"], ""),
        (SEVERAL, [], ""),
        (("README", "backend/pyproject.toml", "backend/a.py", "backend/plugin/pyproject.toml"), [], "backend"),
        (("a.py", "examples/pyproject.toml"), [], ""),
        (("one/pyproject.toml", "two/pyproject.toml"), [], ""),
    ],
)
def test_which_project_is_meant(paths: tuple[str, ...], meant: list[str], wanted: str) -> None:
    assert home(paths, Protection().guarded, meant) == wanted


def test_the_nearest_environment_is_used(tmp_path: Path) -> None:
    for folder in ("one/.venv", ".venv"):
        environments.bare(tmp_path / folder)
    root, own = str(tmp_path), "/nowhere"
    assert find(f"{root}/one", root=root, own=own).prefix == f"{root}/one/.venv"
    assert find(f"{root}/two/deep", root=root, own=own).prefix == f"{root}/.venv"


def test_a_project_in_a_folder_is_repaired_with_its_own_python_and_settings(build: Build) -> None:
    """Its dependency is in its own environment only, its tests read a file beside them, and a sibling is broken."""
    lab = build(
        {
            ".gitignore": ".venv/\n",
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n",
            "services/api/pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
            "services/api/data.txt": "5",
            "services/api/src/shop/__init__.py": "",
            "services/api/src/shop/cart.py": "import only_here\n\n\ndef add(a, b):\n    return a - b\n",
            "services/api/tests/test_cart.py": "from shop.cart import add\n\n\ndef test_add():\n"
            "    assert add(2, 3) == int(open('data.txt').read())\n",
            "services/web/pyproject.toml": "",
            "services/web/tests/test_web.py": "import not_installed_anywhere\n",
        },
        timeout=10_000,
    )
    environments.make(lab.root / "services/api/.venv", {"only_here.py": ""})
    place = lab.root / "services/api"
    config = load(str(place), flags={"generator": "search"}, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(place), targets=("tests/test_cart.py::test_add",)), config)
    assert outcome.solved, outcome.report.notes
    assert "return a + b" in (place / "src/shop/cart.py").read_text()
    assert outcome.report.targets == ("services/api/tests/test_cart.py::test_add",)
