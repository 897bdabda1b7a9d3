"""However a project is installed into its environment, what is tested is the candidate's own file (cases H1, H2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import environments
import pytest
from judge_lab import Lab, patch

from referee.domain.verdict import CheckState
from referee.judge import screen

Build = Callable[..., Lab]
BUG = "def add(a, b):\n    return a - b\n"
FIX = BUG.replace("a - b", "a + b")
# What a build backend of PEP 660 writes when it maps names to folders instead of adding a folder to the path.
FINDER = """\
import importlib.util, sys
MAPPING = {{"pkg": {place!r}}}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return importlib.util.spec_from_file_location(name, MAPPING[name] + "/__init__.py")
def install():
    sys.meta_path.append(Finder)
"""
# By style of installation: the folder of the code, and the files in site-packages; {code} is that folder's path.
STYLES = {
    "a path file, src": ("src", {"__editable__.pkg-1.0.pth": "{code}\n"}),
    "a path file, flat": ("", {"__editable__.pkg-1.0.pth": "{code}\n"}),
    "a finder, src": (
        "src",
        {
            "__editable__.pkg-1.0.pth": "import __editable___pkg_1_0_finder; __editable___pkg_1_0_finder.install()\n",
            "__editable___pkg_1_0_finder.py": FINDER,
        },
    ),
    "a finder, flat": (
        "",
        {
            "__editable__.pkg-1.0.pth": "import __editable___pkg_1_0_finder; __editable___pkg_1_0_finder.install()\n",
            "__editable___pkg_1_0_finder.py": FINDER,
        },
    ),
    "hatchling": ("src", {"_pkg.pth": "{code}\n"}),
    "poetry": ("src", {"pkg.pth": "{code}\n"}),
    "uv": ("src", {"_editable_impl_pkg.pth": "{code}\n"}),
    "develop": ("", {"easy-install.pth": "{code}\n", "pkg.egg-link": "{code}\n.\n"}),
    "a folder of its own": ("lib/python", {"_pkg.pth": "{code}\n"}),
    "a copy, not editable": ("src", {"pkg/__init__.py": "", "pkg/calc.py": FIX}),
}


def project(build: Build, folder: str, files: dict[str, str], conftest: str = "") -> tuple[Lab, str]:
    """A project whose environment has it installed, and the path of the file to repair."""
    prefix = f"{folder}/" if folder else ""
    lab = build(
        {
            ".gitignore": ".venv/\n",
            "pyproject.toml": f'[tool.setuptools.packages.find]\nwhere = ["{folder or "."}"]\n',
            f"{prefix}pkg/__init__.py": "",
            f"{prefix}pkg/calc.py": BUG,
            "tests/conftest.py": conftest,
            "tests/test_calc.py": "from pkg.calc import add\n\ndef test_add():\n    assert add(2, 3) == 5\n",
        },
        timeout=10_000,
    )
    code = str(lab.root / folder) if folder else str(lab.root)
    made = {name: text.replace("{code}", code) for name, text in files.items()}
    finder = "__editable___pkg_1_0_finder.py"
    if finder in made:
        made[finder] = FINDER.format(place=f"{code}/pkg")
    environments.make(lab.root / ".venv", made)
    return lab, f"{prefix}pkg/calc.py"


@pytest.mark.parametrize("style", STYLES)
def test_the_candidates_file_is_what_runs(build: Build, style: str) -> None:
    lab, path = project(build, *STYLES[style])
    bench = lab.bench("tests/test_calc.py::test_add")
    assert bench.project.interpreter.prefix == str(lab.root / ".venv")
    good, bad = screen(lab.run, bench, [patch({path: FIX}), patch({path: BUG + "\n"})])
    assert (good.state, bad.state) == (CheckState.PASS, CheckState.FAIL), good.findings


def test_a_patched_module_that_came_from_elsewhere_is_not_a_pass(build: Build) -> None:
    """The copy is whole, so every test passes; none of them ran the patch."""
    conftest = (
        "import importlib.util, pathlib, sys, sysconfig\n"
        "site = pathlib.Path(sysconfig.get_paths()['purelib'])\n"
        "def load(name, path):\n"
        "    spec = importlib.util.spec_from_file_location(name, path)\n"
        "    module = sys.modules[name] = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "    return module\n"
        "if (pathlib.Path(__file__).parent.parent / 'src/marker.py').exists():\n"
        "    load('pkg', site / 'pkg/__init__.py').calc = load('pkg.calc', site / 'pkg/calc.py')\n"
    )
    lab, path = project(build, "src", {"pkg/__init__.py": "", "pkg/calc.py": FIX}, conftest)
    bench = lab.bench("tests/test_calc.py::test_add")
    (result,) = screen(lab.run, bench, [patch({path: BUG + "\n", "src/marker.py": ""})])
    assert result.state is not CheckState.PASS
    assert [f.error for f in result.findings] == ["imported elsewhere"]


def test_an_installation_inside_cannot_point_the_environment_elsewhere(build: Build, tmp_path: Path) -> None:
    """Case H2: the user's environment is read-only."""
    lab, path = project(build, "src", {"_pkg.pth": "{code}\n"})
    site = next((lab.root / ".venv/lib").glob("python3*/site-packages"))
    evil = f"import glob\nfor p in glob.glob({str(site)!r} + '/*.pth'):\n    open(p, 'w').write('/elsewhere')\n"
    bench = lab.bench("tests/test_calc.py::test_add")
    (result,) = screen(lab.run, bench, [patch({path: evil + FIX})])
    assert result.state is CheckState.FAIL
    assert (site / "_pkg.pth").read_text() == f"{lab.root}/src\n"
