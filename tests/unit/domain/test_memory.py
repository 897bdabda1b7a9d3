"""Which memories count, and what may be remembered at all."""

from __future__ import annotations

from typing import Any

import pytest

from referee.domain.admission import DAYS, Said, admit
from referee.domain.memory import Kept, Memory, MemoryLayer, Origin, Standing, State, standing

TODAY = "2026-03-01"
USE = {"when": "before every commit", "cost": "the wrong tests run"}


def kept(memory_id: str, text: str = "text", *, confirmed: str = "person", **more: Any) -> Kept:
    fields = {"layer": MemoryLayer.PROJECT, "origin": Origin.PERSON, "date": "2026-01-01", **more}
    return Kept(memory=Memory(id=memory_id, text=text, **fields), digest="0" * 64, confirmed=confirmed)


def states(*memories: Kept, files: dict[str, str] | None = None) -> dict[str, tuple[State, str]]:
    found = standing(memories, TODAY, lambda path: (files or {}).get(path))
    return {s.memory.id: (s.state, s.by) for s in found}


def known(*memories: Kept) -> tuple[Standing, ...]:
    return standing(memories, TODAY, lambda path: None)


def test_what_nobody_confirmed_waits_whoever_it_says_it_is_from() -> None:
    assert states(kept("a", confirmed="")) == {"a": (State.QUARANTINED, "")}


@pytest.mark.parametrize(("expires", "state"), [("2026-03-01", State.EXPIRED), ("2026-03-02", State.ACTIVE)])
def test_it_holds_until_the_day_it_expires(expires: str, state: State) -> None:
    assert states(kept("a", expires=expires))["a"][0] is state


def test_a_changed_or_missing_file_makes_it_stale() -> None:
    memory = kept("a", files={"Makefile": "1"})
    assert states(memory, files={"Makefile": "1"})["a"][0] is State.ACTIVE
    assert states(memory, files={"Makefile": "2"})["a"][0] is State.STALE
    assert states(memory)["a"][0] is State.STALE


def test_a_confirmed_memory_replaces_another() -> None:
    old, new = kept("old"), kept("new", supersedes="old")
    assert states(old, new) == {"new": (State.ACTIVE, ""), "old": (State.SUPERSEDED, "new")}


@pytest.mark.parametrize("more", [{"confirmed": ""}, {"expires": "2026-02-01"}, {"files": {"gone": "1"}}])
def test_what_does_not_count_replaces_and_overrides_nothing(more: dict[str, Any]) -> None:
    old = kept("old", topic="tests")
    assert (
        states(old, kept("new", topic="tests", supersedes="old", date="2026-02-01", **more))["old"][0] is State.ACTIVE
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"origin": Origin.PERSON, "date": "2025-01-01"}, {"origin": Origin.RUN, "date": "2026-02-01"}),
        ({"layer": MemoryLayer.PROJECT}, {"layer": MemoryLayer.PERSON, "date": "2026-02-01"}),
        ({"date": "2026-02-01"}, {"date": "2026-01-01"}),
    ],
    ids=["a person before a model", "the repository before the person's habit", "the newer"],
)
def test_of_two_on_one_topic_one_stands_and_the_other_is_shown_overridden(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    found = states(kept("loser", topic="tests", **second), kept("winner", topic="tests", **first))
    assert found == {"winner": (State.ACTIVE, ""), "loser": (State.OVERRIDDEN, "winner")}


def test_a_model_must_say_when_it_is_needed_and_what_it_costs() -> None:
    refused = admit(Said(text="run make test", origin=Origin.RUN), (), TODAY).refused
    assert len(refused) == 2 and "needed again" in refused[0] and "goes wrong" in refused[1]
    memory = admit(Said(text="run make test", origin=Origin.RUN, **USE), (), TODAY).memory
    assert memory is not None and memory.origin is Origin.RUN


def test_what_no_person_said_expires_by_itself_unless_it_depends_on_a_file() -> None:
    def expires(**more: Any) -> str:
        memory = admit(Said(text="run make test", **{"origin": Origin.RUN, **USE, **more}), (), TODAY).memory
        assert memory is not None
        return memory.expires

    assert expires() == "2026-05-30" and DAYS == 90
    assert expires(files={"Makefile": "1"}) == expires(origin=Origin.PERSON) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing"),
        ("x" * 1_001, "1001 characters"),
        ("deploy with token=abcdef123456", "password or key"),
        ("use sk-ant-REDACTED-abcdefgh12", "password or key"),
        ("-----BEGIN RSA PRIVATE KEY-----", "password or key"),
        ("clone https://me:hunter22@example.org/x.git", "password or key"),
        ("look \x1b[2J here", "control"),
    ],
)
def test_nobody_may_have_this_remembered(text: str, words: str) -> None:
    (refused,) = admit(Said(text=text, origin=Origin.PERSON), (), TODAY).refused
    assert words in refused


def test_what_is_gone_after_the_run_is_not_for_a_model_to_remember() -> None:
    said = Said(text="the log is in /tmp/x/log", origin=Origin.RUN, **USE)
    assert "gone after this run" in admit(said, (), TODAY).refused[0]


def test_the_same_in_other_words_is_not_kept_twice() -> None:
    there = known(kept("a", "Run the tests with `make test`."))
    assert admit(Said(text="run the tests with make test", origin=Origin.PERSON), there, TODAY).same_as == "a"


@pytest.mark.parametrize("text", ["do not run the tests with make test", "run the tests with make test on python 3"])
def test_a_denial_or_another_number_is_kept_and_the_contradiction_shown(text: str) -> None:
    there = known(kept("a", "run the tests with make test"))
    admission = admit(Said(text=text, origin=Origin.PERSON), there, TODAY)
    assert admission.memory is not None and admission.contradicts == ("a",)
    replaced = admit(Said(text=text, origin=Origin.PERSON, supersedes="a"), there, TODAY)
    assert replaced.contradicts == ()


def test_only_what_is_there_can_be_replaced() -> None:
    assert admit(Said(text="run make", origin=Origin.PERSON, supersedes="b"), (), TODAY).refused
