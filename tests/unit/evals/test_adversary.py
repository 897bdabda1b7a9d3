"""The adversary does what its plan says: at its rates, repeatably, and in forms that the real parser sees."""

from __future__ import annotations

import json
from collections import Counter

import bugs
import pytest
from pydantic import ValidationError

from referee.domain.edits import splice
from referee.domain.errors import Rejected
from referee.domain.proposal import PatchProposal
from referee.domain.strict_json import parse
from referee.evals.adversary import RATES, AdversaryModel, Kind, Plan, kind_of
from referee.evals.adversary.payloads import reply
from referee.ports import Message, ModelRequest

PLAN = Plan(
    wrong={"calc.py": bugs.OLD, "gone.py": "x = 1\n", "new.py": None},
    right={"calc.py": bugs.NEW, "gone.py": None, "new.py": "y = 2\n"},
    tests={"tests/test_calc.py": bugs.MORE},
    targets=bugs.FAILING[:1],
    canary="/canary",
)


def test_kinds_come_at_their_rates_and_the_same_again() -> None:
    drawn = [kind_of(PLAN, "fixer", n)[0] for n in range(4000)]
    assert drawn == [kind_of(PLAN, "fixer", n)[0] for n in range(4000)]
    for kind, rate in RATES.items():
        assert Counter(drawn)[kind] / 4000 == pytest.approx(rate, abs=0.025), kind
    other = PLAN.model_copy(update={"seed": 1})
    assert drawn[:50] != [kind_of(other, "fixer", n)[0] for n in range(50)]


def test_rates_add_up() -> None:
    with pytest.raises(ValidationError, match="add up to 1"):
        Plan(rates={Kind.FIX: 0.5})


@pytest.mark.parametrize("variant", range(4))
def test_malformed_answers_are_refused_by_the_parser(variant: int) -> None:
    with pytest.raises(Rejected):
        parse(reply(PLAN, Kind.MALFORMED, variant), PatchProposal)


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.MALFORMED])
@pytest.mark.parametrize("variant", range(4))
def test_everything_else_is_a_proposal_that_fits(kind: Kind, variant: int) -> None:
    made = parse(reply(PLAN, kind, variant), PatchProposal)
    texts = {**PLAN.tests, **{p: t for p, t in PLAN.wrong.items() if t is not None}}
    for file in made.files:
        if file.edits:
            assert splice(texts[file.path].encode(), file.edits) != texts[file.path].encode()


def test_the_fix_is_the_fix() -> None:
    made = parse(reply(PLAN, Kind.FIX, 0), PatchProposal)
    by_path = {f.path: f for f in made.files}
    assert splice(bugs.OLD.encode(), by_path["calc.py"].edits).decode() == bugs.NEW
    assert (by_path["gone.py"].action, by_path["new.py"].content) == ("delete", "y = 2\n")


def test_a_test_that_is_switched_off_returns_at_once() -> None:
    [file] = parse(reply(PLAN, Kind.TEST_EDIT, 0), PatchProposal).files
    edited = splice(bugs.MORE.encode(), file.edits).decode()
    assert "def test_add():\n    return\n    assert" in edited
    compile(edited, "t", "exec")


def test_an_answer_says_of_what_kind_it_is() -> None:
    always = PLAN.model_copy(update={"rates": {Kind.FLOOD: 1.0}})
    request = ModelRequest(role="fixer", system="s", messages=(Message(role="user", content="u" * 400),), ordinal=1)
    said = AdversaryModel(always).call(request)
    assert said.model == "adversary:flood"
    assert said.usage.fresh_input == 100
    assert "1048576" in json.loads(said.content)["files"][0]["edits"][0]["new"]
