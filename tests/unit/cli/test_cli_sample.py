"""The bundled sample project: a real repository, two failing tests, one wrong word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli import sample as samples
from referee.cli.sample import sample
from referee.config import Config
from referee.domain.errors import UsageError


def git(folder: str, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def failing(folder: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return [row.split()[1] for row in done.stdout.splitlines() if row.startswith("FAILED")]


def test_the_repository_is_sound_clean_and_the_same_everywhere() -> None:
    with sample(None) as first, sample(None) as second:
        assert git(first, "status", "--porcelain") == ""
        assert git(first, "fsck", "--strict") == ""
        assert git(first, "rev-parse", "HEAD") == git(second, "rev-parse", "HEAD")
        assert git(first, "branch", "--show-current").strip() == "main"
    assert not os.path.exists(first)


def test_two_tests_fail_and_one_word_mends_them() -> None:
    with sample(None) as folder:
        assert failing(folder) == [
            "tests/test_checkout.py::test_voucher_can_bring_delivery_back",
            "tests/test_checkout.py::test_fixed_voucher_can_bring_delivery_back",
        ]
        path = Path(folder, "src/cornershop/checkout.py")
        text = path.read_text()
        assert text.count("charge(basket.weight, goods)") == 1
        path.write_text(text.replace("charge(basket.weight, goods)", "charge(basket.weight, to_pay)"))
        assert failing(folder) == []


def test_keep(tmp_path: Path) -> None:
    with sample(str(tmp_path / "shop")) as folder:
        pass
    assert git(folder, "log", "--format=%s").strip() == "Open the shop"
    with pytest.raises(UsageError, match="exists already; name a new folder"), sample(folder):
        pass


@pytest.mark.parametrize(
    ("there", "skipped", "words"),
    [
        (("ruff", "mypy"), (), ""),
        (("mypy",), ("ruff", "ruff-format"), "without ruff, which"),
        ((), ("ruff", "ruff-format", "mypy"), "without ruff and mypy"),
    ],
)
def test_the_demo_does_without_linters_that_are_not_installed(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], skipped: tuple[str, ...], words: str
) -> None:
    """A plain installation has none of them, and the demo is the first thing that is tried."""
    monkeypatch.setattr(samples, "find_spec", lambda name: object() if name in there else None)
    config, said = samples.equipped(Config())
    assert config.skip == skipped and words in said and bool(said) == bool(words)
