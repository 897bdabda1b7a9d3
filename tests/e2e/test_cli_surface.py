"""The command line from outside: help, exit codes, clean streams, and words for bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee import __version__
from referee.cli import main

COMMANDS = (
    "demo",
    "fix",
    "check",
    "sandbox",
    "doctor",
    "runs",
    "show",
    "resume",
    "rollback",
    "gc",
    "questions",
    "answer",
    "sign",
)
MAIN = "import sys; from referee.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run referee in this process, in a folder with an empty home and no settings of the machine's."""
    for name in [n for n in os.environ if n.startswith(("REFEREE_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, cwd: Path = tmp_path) -> Done:
        monkeypatch.chdir(cwd)
        code = main(arguments)
        return Done(code, *capfd.readouterr())

    return run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / "a.py").write_text("A = 1\n")
    return root


def test_help_names_every_command(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0 and done.err == ""
    assert all(f"  {name}" in done.out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.code == 0
    assert f"Example: referee {command}" in " ".join(done.out.split())
    assert "--json" in done.out


@pytest.mark.parametrize("arguments", [("--plan", "--sarif"), ("--map", "-o", "x.json"), ("--plan", "--map")])
def test_what_runs_no_checks_takes_no_option_about_their_result(
    cli: Cli, repository: Path, arguments: tuple[str, ...]
) -> None:
    done = cli("check", *arguments, cwd=repository)
    assert done.code == 2
    assert "runs no checks" in done.err
    assert not (repository / "x.json").exists()


def test_help_says_the_defaults(cli: Cli) -> None:
    shown = " ".join(cli("fix", "--help").out.split())
    for default in ("8 or as configured", "240 or as configured", "400000 or as configured", "0.50 or as configured"):
        assert default in shown


def test_help_imports_nothing_heavy() -> None:
    """What keeps `referee --help` quick, without a clock."""
    code = (
        "import sys\nfrom referee.cli import main\nmain(['--help'])\n"
        "heavy = {'pydantic', 'rich', 'sqlite3', 'platformdirs', 'pathspec', 'genai_prices'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"referee {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fix", "--max-stepz", "3"), "No such option: --max-stepz"),
        (("fxi",), "No such command 'fxi'"),
        (("show",), "Missing argument 'RUN'"),
        (("sandbox",), "Missing argument"),
        (("fix", "--max-steps", "many"), "Invalid value for '--max-steps'"),
        (
            ("fix", "--max-steps", "0"),
            "option --max-steps: budget.max_steps = 0 is wrong: it should be greater than or equal to 1",
        ),
        (("fix", "--timeout", "nan"), "option --timeout: budget.timeout = NaN is wrong"),
        (("fix", "--max-cost", "lots"), 'option --max-cost: budget.max_cost_usd = "lots" is wrong'),
        (("fix", "--land", "moon"), 'option --land: land = "moon" is wrong: use tree, commit, branch:NAME'),
        (("fix", "--preset", "magic"), 'option --preset: preset = "magic" is wrong'),
        (("fix", "--model", "gpt"), "name a model as PROVIDER:NAME, for example openai:gpt-5-mini"),
        (("fix", "--require-isolation", "--allow-degraded"), "contradict each other; give one of them"),
        (("fix", "--repo", "nowhere"), "nowhere is not a folder; give --repo the path of a git repository"),
        (("resume", "r", "--max-steps", "0"), "option --max-steps: budget.max_steps = 0 is wrong"),
        (("worker", "--slots", "0"), "Invalid value for '--slots'"),
    ],
)
def test_usage_errors(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert words in done.err and done.out == ""
    assert "Traceback" not in done.err


def test_wrong_configuration_names_file_line_and_remedy(cli: Cli, repository: Path) -> None:
    (repository / "referee.toml").write_text("[budget]\nmax_step = 3\n")
    done = cli("fix", "--json", cwd=repository)
    assert done.code == 2 and done.out == ""
    assert done.err == (
        f"referee: {repository}/referee.toml, line 2: unknown key 'budget.max_step'; did you mean budget.max_steps?\n"
    )


def test_the_user_s_file_is_read(cli: Cli, repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "home" / ".config" / "referee" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[budget]\nmax_steps = 0\n")
    done = cli("runs", cwd=repository)
    assert done.code == 2 and f"{path}, line 2: budget.max_steps = 0" in done.err


def test_misspelt_variable(cli: Cli, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case C17."""
    monkeypatch.setenv("REFEREE_MAX_STEP", "3")
    done = cli("runs", cwd=repository)
    assert done.code == 2 and "did you mean REFEREE_MAX_STEPS?" in done.err


def test_not_a_repository(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    done = cli("runs", cwd=folder)
    assert done.code == 2 and "git" in done.err and "Traceback" not in done.err
    assert os.listdir(folder) == []


def test_a_bare_repository(cli: Cli, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "bare.git")], check=True)
    done = cli("fix", cwd=tmp_path / "bare.git")
    assert done.code == 2 and "bare" in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("command", ["show", "resume", "rollback"])
def test_unknown_run(cli: Cli, repository: Path, command: str) -> None:
    done = cli(command, "20250101-000000-abcd", "--json", cwd=repository)
    assert done.code == 2 and done.out == ""
    assert done.err == "referee: there is no run 20250101-000000-abcd here; see `referee runs`\n"


def test_no_runs_yet(cli: Cli, repository: Path) -> None:
    done = cli("runs", "--json", cwd=repository)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", MAIN, "--help"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert b"Traceback" not in done.stderr and b"Exception" not in done.stderr


def test_closed_streams_are_no_bug(repository: Path) -> None:
    command = f"{sys.executable} -c '{MAIN}' --version >&- 2>&-"
    assert subprocess.run(command, shell=True, cwd=repository, check=False).returncode == 0
