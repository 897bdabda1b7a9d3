"""Configuration in layers: which one wins, what a repository may do, and where each value came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from referee.config import Config, IsolationMode, load
from referee.domain.errors import UsageError

Load = Callable[..., Config]


@pytest.fixture
def settle(tmp_path: Path) -> Load:
    """Load with the given texts for the user's and the repository's file, and a closed environment."""

    def run(
        user: str = "",
        repo: str = "",
        variables: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Config:
        root = tmp_path / "repo"
        (root / ".git").mkdir(parents=True, exist_ok=True)
        (root / "referee.toml").write_text(repo)
        (tmp_path / "user.toml").write_text(user)
        return load(str(root), flags=flags, variables=variables or {}, user_file=str(tmp_path / "user.toml"))

    return run


def test_every_layer_beats_the_one_below(settle: Load) -> None:
    """Case C17: each supported way of setting a limit is obeyed, and the value knows where it came from."""
    assert settle().budget.max_steps == 8
    user, repo = "[budget]\nmax_steps = 7", "[budget]\nmax_steps = 6"
    env, flag = {"REFEREE_MAX_STEPS": "9"}, {"budget.max_steps": 10}
    found = [
        settle(),
        settle(user=user),
        settle(user=user, repo=repo),
        settle(user, repo, env),
        settle(user, repo, env, flag),
    ]
    assert [c.budget.max_steps for c in found] == [8, 7, 6, 9, 10]
    origins = [next(s.origin for s in c.resolved() if s.key == "budget.max_steps") for c in found]
    assert origins[0] == "default"
    assert origins[1].endswith("user.toml")
    assert origins[2].endswith("referee.toml")
    assert origins[3] == "environment variable REFEREE_MAX_STEPS"
    assert origins[4] == "option --max-steps"


def test_options_not_given_change_nothing(settle: Load) -> None:
    assert settle(flags={"budget.max_steps": None, "models.default": None}) == settle()


def test_resolved_names_every_setting_and_survives_json(settle: Load) -> None:
    config = settle(
        repo='source = ["src"]\n[models]\ndefault = "openai:gpt-5-mini"', variables={"REFEREE_PRICE": "1,2"}
    )
    keys = [s.key for s in config.resolved()]
    assert keys == sorted(keys) and {"source", "budget.timeout", "models.default", "isolation", "land"} <= set(keys)
    assert Config.model_validate_json(config.model_dump_json()) == config
    assert config.models.price == (Decimal(1), Decimal(2))


@pytest.mark.parametrize(
    ("key", "user", "asked", "stands"),
    [
        ("max_steps", 4, 9, 4),
        ("max_steps", 4, 2, 2),
        ("timeout", 60.0, 600.0, 60.0),
        ("max_tokens", 1000, 999, 999),
        ("max_cost_usd", Decimal("0.10"), Decimal("5"), Decimal("0.10")),
    ],
)
def test_a_repository_lowers_a_budget_and_never_raises_it(
    settle: Load, key: str, user: object, asked: object, stands: object
) -> None:
    config = settle(user=f"[budget]\n{key} = {user}", repo=f"[budget]\n{key} = {asked}")
    assert getattr(config.budget, key) == stands
    assert bool(config.notes) == (stands != asked)


def test_a_repository_above_the_default_is_loud(settle: Load) -> None:
    config = settle(repo="[budget]\nmax_cost_usd = 5")
    assert config.budget.max_cost_usd == 5
    assert any("raises budget.max_cost_usd from 0.50 to 5" in n for n in config.notes)


def test_protected_only_grows(settle: Load) -> None:
    config = settle('protected = ["docs/"]', 'protected = ["api.txt"]', {"REFEREE_PROTECTED": "a, b"})
    assert config.protected == ("docs/", "api.txt", "a", "b")
    assert config.protection.guarded("docs/x.md") and config.protection.guarded("tests/test_a.py")


@pytest.mark.parametrize("pattern", ["!tests/", "#x", "", "a\\u001bb"])
def test_a_pattern_cannot_unprotect(settle: Load, pattern: str) -> None:
    with pytest.raises(UsageError, match="is no pattern"):
        settle(repo=f'protected = ["{pattern}"]')


@pytest.mark.parametrize(
    ("user", "asked", "stands"),
    [
        (["src"], ["src/app"], ("src/app",)),
        (["src"], ["src/app", "lib"], ("src/app",)),
        (["src"], ["lib"], ("src",)),
        (["src"], ["src/../lib"], ("src",)),
        (["src/**"], ["src/app/*.py"], ("src/app/*.py",)),
        (["src"], ["*.py"], ("src",)),
        (["src"], ["srcs/x"], ("src",)),
        (["*.py"], ["src/*.py"], ("*.py",)),
    ],
)
def test_source_only_narrows(settle: Load, user: list[str], asked: list[str], stands: tuple[str, ...]) -> None:
    assert settle(f"source = {user}", f"source = {asked}").source == stands


@pytest.mark.parametrize(
    ("user", "asked", "stands"),
    [
        ("", "true", True),
        ("", "false", False),
        ("true", "false", False),
        ("true", "true", True),
        ("false", "true", False),
    ],
)
def test_a_repository_takes_a_permission_away_and_never_gives_it(
    settle: Load, user: str, asked: str, stands: bool
) -> None:
    config = settle(f"allow_overfitted = {user}" if user else "", f"allow_overfitted = {asked}")
    assert config.allow_overfitted is stands
    assert bool(config.notes) == (asked == "true" and user == "false")


@pytest.mark.parametrize(
    ("user", "asked", "stands"),
    [
        ("", "required", IsolationMode.REQUIRED),
        ("", "degraded", IsolationMode.AUTO),
        ("degraded", "auto", IsolationMode.AUTO),
        ("required", "auto", IsolationMode.REQUIRED),
    ],
)
def test_isolation_only_gets_stricter(settle: Load, user: str, asked: str, stands: IsolationMode) -> None:
    config = settle(f'isolation = "{user}"' if user else "", f'isolation = "{asked}"')
    assert config.isolation is stands
    assert config.origins["isolation"].endswith("referee.toml") == (asked == stands)


@pytest.mark.parametrize(
    ("user", "asked", "stands"),
    [("", "branch:fix", "branch:fix"), ("commit", "branch:fix", "commit"), ("commit", "none", "none")],
)
def test_land_gives_way_to_the_user(settle: Load, user: str, asked: str, stands: str) -> None:
    assert settle(f'land = "{user}"' if user else "", f'land = "{asked}"').land == stands


@pytest.mark.parametrize(
    ("user", "asked", "stands"), [("", "model", "model"), ("auto", "model", "auto"), ("model", "search", "search")]
)
def test_generator_gives_way_to_the_user(settle: Load, user: str, asked: str, stands: str) -> None:
    assert settle(f'generator = "{user}"' if user else "", f'generator = "{asked}"').generator == stands


@pytest.mark.parametrize(
    "text",
    [
        '[models]\nbase_url = "http://elsewhere.example/v1"',
        '[models]\napi_key_env = "AWS_SECRET_ACCESS_KEY"',
        "[models]\nprice = [0, 0]",
        '[models]\ndefault = "scripted:/etc/passwd"',
        '[models]\ndefault = "adversary:plan.json"',
        'land = "patch:/home/me/.bashrc"',
        'land = "pr"',
        'generator = "command:sh -c evil"',
        'python = "/usr/local/bin/python"',
        'python = "../other/bin/python"',
        'record = "/tmp/x"',
    ],
)
def test_what_reaches_out_is_never_the_repository_s_to_set(settle: Load, text: str) -> None:
    """Keys, other hosts and files outside the repository; the user's own file may (the positive control)."""
    with pytest.raises(UsageError, match=r"referee\.toml, line \d: .*not for a repository's file to set"):
        settle(repo=text)
    assert settle(user=text).origins


def test_the_user_s_model_stands(settle: Load) -> None:
    config = settle('[models]\ndefault = "anthropic:a"', '[models]\ndefault = "openai:b"\ncheap = "openai:c"')
    assert (config.models.default, config.models.cheap) == ("anthropic:a", "openai:c")


def test_checks_of_both_files_run(settle: Load) -> None:
    one = '[[check]]\nlayer = "L3"\nrun = ["pytest", "-q", "{targets}"]\n'
    two = '[[check]]\nlayer = "L1"\nrun = ["pyright"]\nname = "pyright"\n'
    assert [c.run[0] for c in settle(one, two).checks] == ["pytest", "pyright"]


def test_the_environment_sets_models_and_lists(settle: Load) -> None:
    config = settle(
        variables={"REFEREE_MODEL": "openai:x", "REFEREE_SOURCE": "src, lib", "VIRTUAL_ENV": "/venv", "OTHER": "1"}
    )
    assert (config.models.default, config.source, config.virtual_env) == ("openai:x", ("src", "lib"), "/venv")


def test_an_empty_variable_is_not_set(settle: Load) -> None:
    assert settle(variables={"REFEREE_MAX_STEPS": ""}).budget.max_steps == 8


def test_what_decides_about_the_judge_adds_up(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text('skip = ["mypy"]\n[judge]\nsuite_seconds = 300\n')
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "referee.toml").write_text(
        'skip = ["ruff"]\nflaky = ["t.py::a"]\n[judge]\nsuite_seconds = 900\ntest_seconds = 2\n'
        '[[ignore]]\nrule = "E1"\nreason = "because"\n'
        '[[check]]\nlayer = "L1"\nrun = ["x"]\nreader = "lines"\nseconds = 5\nnot_run = "allow"\n'
    )
    config = load(str(repo), variables={}, user_file=str(user))
    assert (config.skip, config.flaky) == (("mypy", "ruff"), ("t.py::a",))
    assert (config.judge.suite_seconds, config.judge.test_seconds) == (300, 2)
    assert config.ignore[0].reason == "because"
    assert (config.checks[0].reader, config.checks[0].seconds, config.checks[0].not_run) == ("lines", 5, "allow")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[ignore]]\nrule = "E1"\n', "reason"),
        ('[[ignore]]\nrule = "E1"\nreason = " "\n', "say why"),
        ('[[ignore]]\nreason = "x"\n', "needs a rule, a path or a message"),
        ('[[ignore]]\nrule = "E1"\nreason = "x"\nresaon = "x"\n', "did you mean reason"),
        ('[[ignore]]\nmessage = "("\nreason = "x"\n', "regular expression"),
        ('[[ignore]]\ncheck = "pytest"\nmessage = "x"\nreason = "x"\n', "list its id under flaky"),
        ('[[check]]\nlayer = "L1"\nrun = ["x"]\nreader = "nope"\n', "reader"),
        ('[[check]]\nlayer = "L1"\nrun = ["x"]\nnot_run = "pass"\n', "not_run"),
        ("[judge]\nsuite_seconds = 0\n", "judge.suite_seconds"),
        ("[judge]\nsuite_second = 1\n", "did you mean judge.suite_seconds"),
    ],
)
def test_a_wrong_decision_about_the_judge_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "referee.toml").write_text(text)
    with pytest.raises(UsageError, match=words):
        load(str(tmp_path), variables={}, user_file="")


DENY = '[[rule]]\nthen = "deny"\ntool = "bash"\nmatch = "*git push*"\nreason = "people push"\n'


def test_a_repository_s_rules_forbid_and_ask_and_never_allow(settle: Load) -> None:
    user = '[[rule]]\nthen = "deny"\ntool = "web*"\n'
    found = settle(user=user, repo=f'{DENY}[[rule]]\nthen = "allow"\ntool = "webfetch"\n')
    assert [(r.then, r.tool, r.only_tightens) for r in found.rules] == [("deny", "web*", False), ("deny", "bash", True)]
    assert any("allow webfetch; only your own file can allow something" in n for n in found.notes)
    (origin,) = (s.origin for s in found.resolved() if s.key == "rules")
    assert origin.count("user.toml") == origin.count("referee.toml") == 1
    assert settle(user=DENY).rules[0].reason == "people push"
    assert Config.model_validate_json(found.model_dump_json()).permissions == found.permissions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[rule]]\nthen = "allow"\ntool = "bash"\nmatch = "*"\n', "must say which argument"),
        ('[[rule]]\nthen = "forbid"\n', "it should be 'deny', 'ask' or 'allow'"),
        ('[[rule]]\nthen = "deny"\ntol = "bash"\n', "did you mean tool"),
        ('[rule]\nthen = "deny"\n', "a list"),
    ],
)
def test_a_rule_that_says_nothing_clear_is_refused(settle: Load, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settle(repo=text)
