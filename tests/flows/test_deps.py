"""`referee deps` with a flat index of wheels that the tests build: no network."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.cli import main

Deps = Callable[..., SimpleNamespace]
PROJECT = (
    '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["alpha==1.0", "gamma"]\n'
    '[project.optional-dependencies]\nall = ["shop[other]"]\n'
)


def wheel(folder: Path, name: str, version: str, *requires: str, python: str = ">=3.8") -> None:
    info = f"{name}-{version}.dist-info"
    rows = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Requires-Python: {python}"]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", "\n".join([*rows, *(f"Requires-Dist: {r}" for r in requires)]) + "\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("index")
    (root / "wheels").mkdir()
    wheel(root / "wheels", "alpha", "1.0", "beta<2")
    wheel(root / "wheels", "alpha", "2.0", "beta>=2")
    wheel(root / "wheels", "alpha", "3.0", "beta>=2", python=">=3.14")
    wheel(root / "wheels", "beta", "1.5")
    wheel(root / "wheels", "beta", "2.1")
    wheel(root / "wheels", "gamma", "1.0")
    wheel(root / "wheels", "delta", "1.0", "beta<2")
    (root / "uv.toml").write_text(f'no-index = true\nfind-links = ["{root}/wheels"]\n')
    return root


@pytest.fixture
def deps(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Deps:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_CONFIG_FILE", str(index / "uv.toml"))
    monkeypatch.setenv("UV_CACHE_DIR", str(index / "cache"))
    (tmp_path / "pyproject.toml").write_text(PROJECT)

    def run(*arguments: str) -> SimpleNamespace:
        code = main(["deps", *arguments])
        said = capfd.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err, document=lambda: json.loads(said.out))

    return run


def test_versions_that_go_together(deps: Deps, tmp_path: Path) -> None:
    done = deps("--json")
    assert done.code == 0 and done.document()["conflicts"] == []
    assert done.document()["resolved"] == {"alpha": "1.0", "beta": "1.5", "gamma": "1.0"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pyproject.toml"], "nothing is written"


def test_an_upgrade_frees_the_pin_and_is_written_only_when_asked(deps: Deps, tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("# pins\nalpha==1.0\nbeta==1.5  # via alpha\n")
    found = deps("--upgrade", "alpha", "--json").document()
    assert found["changed"] == {"alpha": ["1.0", "2.0"], "beta": ["1.5", "2.1"], "gamma": ["", "1.0"]}
    assert (tmp_path / "pyproject.toml").read_text() == PROJECT
    done = deps("--upgrade", "alpha", "--write")
    assert done.code == 0 and "wrote pyproject.toml, requirements.lock" in done.out
    assert (tmp_path / "pyproject.toml").read_text() == PROJECT.replace("alpha==1.0", "alpha==2.0")
    assert lock.read_text() == "# pins\nalpha==2.0\nbeta==2.1  # via alpha\ngamma==1.0\n"


def test_without_a_lock_the_pins_of_the_project_itself_are_compared(deps: Deps, tmp_path: Path) -> None:
    done = deps("--upgrade", "alpha")
    assert done.out == "alpha  1.0 -> 2.0\nnothing is written; --write sets the pins\n"
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace("alpha==1.0", "alpha==1.*"))
    assert deps("--json").document()["changed"] == {}


def test_todays_pins_stay_where_they_fit(deps: Deps, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace('"alpha==1.0"', '"alpha", "beta"'))
    (tmp_path / "requirements.lock").write_text("alpha==1.0\nbeta==1.5\n")
    assert deps("--json").document()["resolved"]["beta"] == "1.5"


@pytest.mark.parametrize(
    ("wish", "about", "words"),
    [
        ("alpha==9.9", "alpha==9.9", "no version of alpha==9.9"),
        ("delta", "delta", "beta"),
        ("nothing-like-it", "nothing-like-it", "nothing-like-it"),
    ],
)
def test_an_impossible_wish_says_why(deps: Deps, tmp_path: Path, wish: str, about: str, words: str) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace("alpha==1.0", "alpha>=2"))
    done = deps("--upgrade", wish, "--write", "--json")
    [conflict] = done.document()["conflicts"]
    assert done.code == 1 and about in conflict["requirements"] and words in conflict["why"]
    assert done.document()["written"] == [] and done.document()["resolved"] == {}


def test_another_python_changes_what_fits(deps: Deps) -> None:
    assert deps("--upgrade", "alpha", "--python", "3.14", "--json").document()["resolved"]["alpha"] == "3.0"


def test_an_index_out_of_reach_is_said(deps: Deps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "uv.toml"
    config.write_text('[[index]]\nurl = "http://user:hidden@127.0.0.1:9/simple"\ndefault = true\n')
    monkeypatch.setenv("UV_CONFIG_FILE", str(config))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    done = deps()
    assert done.code == 69 and "is this machine offline" in done.err and "hidden" not in done.err
    done = deps("--offline")
    assert done.code == 69 and "offline" in done.err


def test_requirements_files_are_read_with_what_they_include(deps: Deps, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "requirements.txt").write_text("-r more.txt\n--index-url http://other.invalid/\nalpha==1.0  # pin\n")
    (tmp_path / "more.txt").write_text("gamma\nown @ http://other.invalid/own.whl\n")
    found = deps("--json").document()
    assert found["resolved"] == {"alpha": "1.0", "beta": "1.5", "gamma": "1.0"}
    assert len(found["notes"]) == 2 and "--index-url is left out" in found["notes"][0]


@pytest.mark.parametrize(
    ("text", "words"), [("???\n", "line 1"), ("-r ../out.txt\n", "outside the project"), (None, "no dependencies")]
)
def test_what_is_no_requirement_is_refused(deps: Deps, tmp_path: Path, text: str | None, words: str) -> None:
    (tmp_path / "pyproject.toml").unlink()
    if text is not None:
        (tmp_path / "requirements.txt").write_text(text)
    done = deps()
    assert done.code == 2 and words in done.err


def test_pins_with_hashes_are_not_rewritten(deps: Deps, tmp_path: Path) -> None:
    lock = "alpha==1.0 \\\n    --hash=sha256:00\n"
    (tmp_path / "requirements.lock").write_text(lock)
    done = deps("--upgrade", "alpha", "--write")
    assert done.code == 2 and "hashes" in done.err
    assert (tmp_path / "requirements.lock").read_text() == lock
    assert (tmp_path / "pyproject.toml").read_text() == PROJECT
