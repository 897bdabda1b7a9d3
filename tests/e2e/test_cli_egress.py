"""`referee sandbox --allow-domain` from outside: what it prints, and who may say what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.cli.sample import sample

MAIN = "import sys; from referee.cli import main; sys.exit(main())"
Done = subprocess.CompletedProcess[str]
ASK = """
import os, sys, urllib.request, urllib.error
if "http_proxy" not in os.environ: sys.exit("no proxy")
try: urllib.request.urlopen("http://evil.example/", timeout=5)
except urllib.error.HTTPError as e: print(e.code)
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    with sample(None) as folder:
        Path(folder, "ask.py").write_text(ASK)
        yield Path(folder)


@pytest.fixture
def referee(shop: Path, tmp_path: Path) -> Callable[..., Done]:
    def run(*arguments: str, user: str = "") -> Done:
        (tmp_path / "referee").mkdir(exist_ok=True)
        (tmp_path / "referee/config.toml").write_text(user)
        command = [sys.executable, "-c", MAIN, *arguments]
        env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
        return subprocess.run(command, cwd=shop, capture_output=True, timeout=120, check=False, text=True, env=env)

    return run


def test_a_refusal_is_said_to_the_command_and_to_the_user(referee: Callable[..., Done]) -> None:
    done = referee("sandbox", "--allow-domain", "good.example", "--", "python", "ask.py")
    assert (done.returncode, done.stdout) == (0, "403\n"), done.stderr
    said = "referee: the command was refused evil.example:80: it is not on the list of allowed destinations\n"
    assert done.stderr == said
    (contact,) = json.loads(
        referee("sandbox", "--json", "--allow-domain", "good.example", "--", "python", "ask.py").stdout
    )["contacts"]
    assert contact["target"] == "evil.example:80"


def test_without_the_option_there_is_no_proxy(referee: Callable[..., Done]) -> None:
    done = referee("sandbox", "--", "python", "ask.py")
    assert (done.returncode, done.stderr) == (1, "no proxy\n")


def test_a_repository_that_asks_for_more_is_told_and_gets_nothing(referee: Callable[..., Done], shop: Path) -> None:
    (shop / "referee.toml").write_text('[sandbox]\nallow_domains = ["evil.example"]\n')
    try:
        done = referee("sandbox", "--", "python", "ask.py")
        both = referee("sandbox", "--", "python", "ask.py", user='[sandbox]\nallow_domains = ["good.example"]\n')
    finally:
        (shop / "referee.toml").unlink()
    for each in (done, both):
        assert each.stderr.endswith("no proxy\n")
        assert "asks for sandbox.allow_domains evil.example" in each.stderr


def test_a_pattern_is_refused_in_words(referee: Callable[..., Done]) -> None:
    done = referee("sandbox", "--allow-domain", "*.example", "--", "true")
    assert done.returncode == 2
    assert "name one host as example.org" in done.stderr


def test_a_missing_secret_is_the_users_to_set(referee: Callable[..., Done]) -> None:
    user = '[[sandbox.inject]]\ndomain = "good.example"\nheader = "X-Key"\nvalue_env = "NO_SUCH_VARIABLE"\n'
    done = referee("sandbox", "--allow-domain", "good.example", "--", "true", user=user)
    assert done.returncode == 2
    assert "environment variable NO_SUCH_VARIABLE, which is not set" in done.stderr
