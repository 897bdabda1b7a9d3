"""The evaluator after the gate (E3): it may stop a landing, never allow one, and nobody hears what is not for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.config import load
from referee.domain.opinion import Opinion
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.flows.evaluate import NOT_ACCEPTED

sys.path.append(str(Path(__file__).parents[1] / "contract"))

import model_server as server

OTHER = small.BUGGY.replace("a - b", "b + a")
CONTENT = {"passed": True, "failed_assertions": [], "blocking_issues": [], "must_not_merge": False, "reason": "fine"}
AGAINST = {**CONTENT, "passed": False, "blocking_issues": ["this hides an error"], "reason": "hidden"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small.build(tmp_path / "repo")


def fix(repo: Path, **flags: Any) -> Outcome:
    config = load(str(repo), flags={"generator": "model", **flags}, variables={}, user_file="")
    return api.fix(Task(repo=str(repo), text="add is wrong", targets=(small.TARGET,)), config)


def play(repo: Path, *lines: tuple[str, dict[str, Any] | str]) -> Outcome:
    """What each role says, in order."""
    script = repo.parent / "script.jsonl"
    said = [(role, text if isinstance(text, str) else json.dumps(text)) for role, text in lines]
    script.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in said))
    model = f"scripted:{script}"
    return fix(repo, **{"models.default": model, "models.evaluator": model})


def test_who_objects_stops_the_landing_and_who_does_not_allows_nothing_new(repo: Path) -> None:
    outcome = play(
        repo,
        ("generator", small.proposal()),
        ("fixer", small.content(OTHER)),
        ("evaluator", AGAINST),
        ("evaluator", CONTENT),
    )
    assert outcome.solved
    assert [i.passed for i in outcome.report.iterations] == [False, True]
    assert "this hides an error" in outcome.report.iterations[0].note
    assert (repo / "calc.py").read_text() == OTHER


def test_an_objection_leaves_the_files_alone(repo: Path) -> None:
    before = small.state(repo)
    outcome = play(repo, ("generator", small.proposal()), ("fixer", small.content(OTHER)), ("evaluator", AGAINST))
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert outcome.report.feedback == NOT_ACCEPTED
    assert small.state(repo) == before


def test_it_cannot_acquit_what_the_checks_refuse(repo: Path) -> None:
    """It is not even asked: its line of the script would be missing."""
    wrong = small.BUGGY.replace("a - b", "a * b")
    outcome = play(repo, ("generator", small.content(wrong)), ("fixer", small.content(wrong + "# again\n")))
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert (repo / "calc.py").read_text() == small.BUGGY


def test_without_an_opinion_nothing_lands(repo: Path) -> None:
    before = small.state(repo)
    outcome = play(repo, ("generator", small.proposal()), ("evaluator", "looks good to me"))
    assert outcome.stop_reason is StopReason.SCHEMA_FAILURE
    assert "evaluator" in outcome.report.explanation
    assert outcome.diff, "the proposal is not lost"
    assert [i.passed for i in outcome.report.iterations] == [True], "it was judged, and paid for"
    assert small.state(repo) == before


@pytest.mark.parametrize(
    ("said", "objections"),
    [
        (CONTENT, ()),
        ({**CONTENT, "must_not_merge": True}, ("fine",)),
        ({**CONTENT, "passed": False, "reason": ""}, ("the evaluator objects without saying why",)),
        ({**CONTENT, "failed_assertions": ["a"], "blocking_issues": ["b"]}, ("b", "a")),
    ],
)
def test_an_opinion_that_contradicts_itself_is_an_objection(said: dict[str, Any], objections: tuple[str, ...]) -> None:
    assert Opinion.model_validate(said).objections == objections


def test_no_byte_of_an_account_reaches_the_evaluator_and_none_of_an_opinion_an_author(repo: Path) -> None:
    """Over the bytes on the wire: every field of free text carries a word of its own, which is then looked for."""
    first, second = _marked(small.proposal(), "GENERATOR"), _marked(small.content(OTHER), "FIXER")
    against = {
        **AGAINST,
        "failed_assertions": ["OPINIONFAILED"],
        "blocking_issues": ["OPINIONBLOCKING"],
        "reason": "OPINIONREASON",
    }
    answers = {"author": [first, first], "fixer": [second], "evaluator": [against, CONTENT]}
    bodies: dict[str, list[str]] = {name: [] for name in answers}

    def behave(handler: server.Handler) -> None:
        asked = handler.server.requests[-1]
        bodies[asked["model"]].append(json.dumps(asked, ensure_ascii=False))
        server.says(json.dumps(answers[asked["model"]][len(bodies[asked["model"]]) - 1]))(handler)

    with server.serving(behave) as served:
        named = {"default": "author", "fixer": "fixer", "evaluator": "evaluator"}
        models = {f"models.{role}": f"openai:{name}" for role, name in named.items()}
        outcome = fix(repo, **models, **{"models.base_url": served.url, "models.price": "0,0"})
    assert outcome.solved
    assert [len(b) for b in bodies.values()] == [1, 1, 2]
    assert all("GENERATOR" in text for text in bodies["fixer"]), "the control: the fixer does see the last account"
    assert "return a + b" in bodies["evaluator"][0], "the control: the evaluator does see the change"
    assert "test_add" in bodies["evaluator"][0]
    assert NOT_ACCEPTED in bodies["fixer"][0]
    for text in bodies["evaluator"]:
        assert "GENERATOR" not in text and "FIXER" not in text
    for text in (*bodies["author"], *bodies["fixer"]):
        assert "OPINION" not in text and "evaluator" not in text
    assert "OPINIONREASON" not in outcome.report.feedback


def _marked(proposal: dict[str, Any], word: str) -> dict[str, Any]:
    files = [{**f, "rationale": f"{word}RATIONALE"} for f in proposal["files"]]
    told = {"analysis": f"{word}ANALYSIS", "root_cause": f"{word}CAUSE", "test_targets": [f"{word}TARGET"]}
    return {**proposal, **told, "files": files}
