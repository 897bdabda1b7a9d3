"""Known agents: how they are called, and that only their provider can be reached."""

from __future__ import annotations

import pytest

from referee.authors.command.presets import PRESETS, PROMPT, PROMPT_FILE, PROVIDERS, agent
from referee.domain.destination import destination
from referee.domain.errors import UsageError


@pytest.mark.parametrize("name", [*PRESETS, "mini-swe-agent", "/opt/tools/claude"])
def test_a_preset_says_where_the_prompt_goes_and_reaches_one_host(name: str) -> None:
    found = agent(name)
    assert any(PROMPT in a or PROMPT_FILE in a for a in found.argv)
    assert len(found.egress) == 1
    (place,) = found.egress
    assert place.injection is not None, "the key stays outside"
    assert place.host in {p.host for p in PROVIDERS.values()}
    assert found.env[place.injection.variable] == "added-outside-the-sandbox"


def test_the_users_own_arguments_follow_the_presets() -> None:
    found = agent("aider --model anthropic/some-model")
    assert found.argv[0] == "aider"
    assert found.argv[-4:] == ("--model", "anthropic/some-model", "--message-file", PROMPT_FILE)
    assert [d.host for d in found.egress] == ["api.anthropic.com"]


def test_any_other_command_is_taken_as_it_is_and_reaches_nothing() -> None:
    found = agent("my-agent --quiet 'two words'")
    assert found.argv == ("my-agent", "--quiet", "two words")
    assert (found.egress, dict(found.env)) == ((), {})


def test_a_user_who_lists_domains_has_decided_about_the_network() -> None:
    own = (destination("models.example.org:80"),)
    assert agent("claude", own).egress == own
    assert "ANTHROPIC_BASE_URL" not in agent("claude", own).env
    assert agent("my-agent", own).egress == own


def test_a_command_that_places_the_prompt_itself_is_no_preset() -> None:
    assert agent("claude --print {prompt}").argv == ("claude", "--print", PROMPT)


@pytest.mark.parametrize("text", ["'", "   "])
def test_what_cannot_be_read_is_the_users_to_mend(text: str) -> None:
    with pytest.raises(UsageError, match="--generator"):
        agent(text)
