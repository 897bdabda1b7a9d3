"""What may be set about the network: the user allows, a repository only takes away, secrets are never held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.config import Config, load
from referee.domain.destination import Destination, Injection
from referee.domain.errors import UsageError

Load = Callable[..., Config]
INJECT = (
    '[[sandbox.inject]]\ndomain = "a.example"\nheader = "Authorization"\nvalue_env = "TOKEN"\nformat = "Bearer {}"\n'
)


@pytest.fixture
def settle(tmp_path: Path) -> Load:
    def run(
        user: str = "", repo: str = "", flags: Mapping[str, Any] | None = None, variables: Mapping[str, str] = {}
    ) -> Config:
        root = tmp_path / "repo"
        (root / ".git").mkdir(parents=True, exist_ok=True)
        (root / "referee.toml").write_text(repo)
        (tmp_path / "user.toml").write_text(user)
        return load(str(root), flags=flags, variables=variables, user_file=str(tmp_path / "user.toml"))

    return run


def domains(*names: str) -> str:
    return f"[sandbox]\nallow_domains = {list(names)}\n"


def test_nothing_is_allowed_by_default(settle: Load) -> None:
    assert settle().sandbox.destinations == ()


@pytest.mark.parametrize(
    ("user", "repo", "stands"),
    [
        ((), ("evil.example",), ()),
        (("a.example",), ("evil.example",), ()),
        (("a.example", "b.example"), ("b.example", "evil.example"), ("b.example",)),
        (("a.example",), ("A.Example:443",), ("a.example",)),
        (("a.example",), ("a.example:22",), ()),
        (("a.example",), (), ()),
    ],
)
def test_a_repository_takes_away_and_never_adds(
    settle: Load, user: tuple[str, ...], repo: tuple[str, ...], stands: tuple[str, ...]
) -> None:
    config = settle(domains(*user) if user else "", domains(*repo))
    assert config.sandbox.allow_domains == stands
    assert any("evil.example" in note for note in config.notes) == ("evil.example" in repo)


def test_an_option_and_a_variable_are_the_users_word(settle: Load) -> None:
    by_flag = settle(domains("a.example"), flags={"sandbox.allow_domains": ("b.example:80",)})
    assert by_flag.sandbox.destinations == (Destination(host="b.example", port=80),)
    by_variable = settle(variables={"REFEREE_ALLOW_DOMAINS": "a.example, b.example"})
    assert by_variable.sandbox.allow_domains == ("a.example", "b.example")


@pytest.mark.parametrize(
    "name",
    ("*.example.org", "127.0.0.1", "[::1]", "0x7f.1", "a.example.", "a..example", "http://a.example", "a@b.example",
     "b\u00fccher.example", "localhost", "a.example:0", "a.example:99999", ""),
)  # fmt: skip
def test_only_plain_full_names_can_be_listed(settle: Load, name: str) -> None:
    with pytest.raises(UsageError, match=r"user\.toml, line 2.*is no destination"):
        settle(domains(name))


def test_a_header_goes_with_its_domain(settle: Load) -> None:
    config = settle(domains("a.example", "b.example") + INJECT)
    injection = Injection(header="Authorization", variable="TOKEN", form="Bearer {}")
    assert config.sandbox.destinations == (
        Destination(host="a.example", injection=injection), Destination(host="b.example"),
    )  # fmt: skip
    assert settle(INJECT).sandbox.destinations == (), "a header does not allow its domain"


@pytest.mark.parametrize("text", (INJECT, '[sandbox]\nchecks = ["audit"]\n'))
def test_headers_and_connected_checks_are_not_for_a_repository(settle: Load, text: str) -> None:
    with pytest.raises(UsageError, match=r"referee\.toml.*is not for a repository's file"):
        settle(domains("a.example"), text)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"Authorization"', '"Host"', "no header that can be added"),
        ('"Authorization"', '"X: y"', "no header that can be added"),
        ('"Bearer {}"', '"Bearer"', "once"),
        ('"Bearer {}"', '"Bearer {}\\nX: y"', "once"),
        ('"TOKEN"', '"sk-12345"', "not the secret itself"),
        ('"a.example"', '"a.example:80"', "only added over TLS"),
        ("value_env", "value", "Field required|did you mean"),
    ],
)
def test_a_header_that_makes_no_sense(settle: Load, before: str, after: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as wrong:
        settle(INJECT.replace(before, after))
    assert "12345" not in str(wrong.value)


def test_a_domain_has_one_header(settle: Load) -> None:
    with pytest.raises(UsageError, match="one header per domain"):
        settle(INJECT + INJECT)


def test_the_record_names_the_variable_and_never_its_value(settle: Load) -> None:
    config = settle(domains("a.example") + INJECT, variables={"TOKEN": "s3cr3t-s3cr3t"})
    text = str([s.model_dump() for s in config.resolved()]) + config.model_dump_json() + repr(config)
    assert "TOKEN" in text
    assert "s3cr3t" not in text
    assert Config.model_validate_json(config.model_dump_json()) == config
