"""Bad configuration: each a clear sentence with the place and what to write instead."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from referee.config import load, root_of, secret
from referee.domain.errors import UsageError


def refused(root: Path, message: str, **more: Any) -> None:
    with pytest.raises(UsageError) as caught:
        load(str(root), **{"variables": {}, "user_file": str(root / "none"), **more})
    assert re.search(message, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_steps = 3", r"referee\.toml, line 1: unknown key 'max_steps'; did you mean budget\.max_steps\?"),
        ("\n[budget]\nmax_step = 3", r"line 3: unknown key 'budget\.max_step'; did you mean budget\.max_steps\?"),
        ("sorce = []", r"line 1: unknown key 'sorce'; did you mean source\?"),
        ("zzzzz = 1", r"unknown key 'zzzzz'; known are .*budget\.max_steps"),
        ("[models]\nkey = 'x'", r"line 2: unknown key 'models\.key'"),
        ('[[check]]\nlayer = "L3"\nrun = ["x"]\nnmae = "y"', r"nmae is not a key here; did you mean name\?"),
        ("[budget]\nmax_steps = 0", r"line 2: budget\.max_steps = 0 is wrong: it should be greater than or equal to 1"),
        ('[budget]\nmax_steps = "8"', r'budget\.max_steps = "8" is wrong: it should be a valid integer'),
        ("[budget]\nmax_steps = true", r"budget\.max_steps = true is wrong"),
        ("[budget]\ntimeout = nan", r"budget\.timeout = NaN is wrong"),
        ("[budget]\nmax_cost_usd = inf", r"budget\.max_cost_usd = Infinity is wrong"),
        ("budget = 3", r"line 1: budget must be a table; write \[budget\]"),
        ('source = "src"', r'source = "src" is wrong: it should be a list'),
        ('land = "moon"', r"land = \"moon\" is wrong: use tree, commit, branch:NAME, patch:FILE, pr or none"),
        ('land = "branch:-x"', r"is wrong: use tree"),
        ('generator = "magic"', r"is wrong: use auto, search, model, agent or command:ARGV"),
        ('[models]\ndefault = "gpt"', r"name a model as PROVIDER:NAME"),
        ('isolation = "none"', r"'degraded', 'auto' or 'required'"),
        ('[[check]]\nlayer = "L9"\nrun = ["x"]', r"check = .* is wrong: 0\.layer: it should be 'L0'"),
        ('[[check]]\nlayer = "L1"\nrun = []', r"0\.run: "),
        ("\nsource = = 3", r"referee\.toml is not valid TOML: .*line 2.*; correct that line"),
        ("x = " + "[" * 5000, r"referee\.toml is (nested too deeply|not valid TOML)"),
    ],
)
def test_wrong_settings(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "referee.toml").write_text(text)
    refused(tmp_path, message)


def test_a_key_in_pyproject_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname='x'\n\n[tool.referee.budget]\ntimeout = -1\n")
    refused(tmp_path, r"pyproject\.toml, line 5: budget\.timeout = -1 is wrong: it should be greater than 0")


def test_two_places_at_once(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.referee]\n")
    refused(tmp_path, r"both exist; keep one of them")


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_bytes(b"# ok\nx = '\xff'\n")
    refused(tmp_path, r"referee\.toml, line 2: not UTF-8 text; save it as UTF-8")


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "referee.toml")
    refused(tmp_path, r"referee\.toml is not a regular file; move it away")


def test_a_folder_and_a_huge_file(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").mkdir()
    refused(tmp_path, r"is not a regular file")
    (tmp_path / "referee.toml").rmdir()
    (tmp_path / "referee.toml").write_text("#" * (2 << 20))
    refused(tmp_path, r"is larger than 1048576 bytes; shorten it")


def test_a_link_into_nowhere_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").symlink_to("referee.toml")
    refused(tmp_path, r"cannot be read \(Too many levels of symbolic links\); make it readable or move it away")


def test_misspelt_variable(tmp_path: Path) -> None:
    """Case C17: a limit that is silently ignored is worse than an error."""
    refused(
        tmp_path,
        r"environment variable REFEREE_MAX_STEP is not a setting; did you mean REFEREE_MAX_STEPS\?",
        variables={"REFEREE_MAX_STEP": "3"},
    )


def test_wrong_variable_and_option(tmp_path: Path) -> None:
    refused(
        tmp_path,
        r'environment variable REFEREE_TIMEOUT: budget\.timeout = "soon" is wrong',
        variables={"REFEREE_TIMEOUT": "soon"},
    )
    refused(
        tmp_path, r'option --max-cost: budget\.max_cost_usd = "lots" is wrong', flags={"budget.max_cost_usd": "lots"}
    )
    refused(tmp_path, r"option --price: models\.price", flags={"models.price": "1"})


def test_a_key_is_not_a_setting(tmp_path: Path) -> None:
    refused(tmp_path, r"not the key itself", variables={"REFEREE_API_KEY_ENV": "sk-123"})
    refused(tmp_path, r"must not hold a password", variables={"REFEREE_BASE_URL": "https://me:pw@host/v1"})


def test_no_such_folder(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", r"nowhere is not a folder; give --repo the path of a git repository")


def test_a_folder_inside_belongs_to_its_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "referee.toml").write_text("[budget]\nmax_steps = 2")
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    assert root_of(str(inside)) == str(tmp_path.resolve())
    assert load(str(inside), variables={}, user_file=str(tmp_path / "none")).budget.max_steps == 2


def test_secrets_are_read_by_name_only() -> None:
    assert secret("KEY", {"KEY": "s"}) == "s"
    assert secret("KEY", {"KEY": ""}) is None
    assert secret("KEY", {}) is None
