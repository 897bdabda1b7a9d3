"""Every attack, on every backend, as root and as an ordinary user; and every attack where nothing is in its way."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest
from sandbox_boxes import PYTHON
from unprotected import Unprotected

from conftest import BOXES
from referee.adapters.sandbox import sandbox_owner
from referee.adapters.sandbox.attacks import ATTACKS, Attack, Outcome, campaign

Outcomes = Callable[[str], Mapping[str, Outcome]]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_stopped(box: str, attack: str, outcomes: Outcomes) -> None:
    outcome = outcomes(box)[attack]
    if not outcome.tried:
        pytest.skip(outcome.said)
    assert outcome.stopped, outcome.said
    assert outcome.left == ()


@pytest.fixture(scope="session")
def controls() -> Mapping[str, Outcome]:
    """Every attack without a sandbox, as whom it needs."""
    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    if os.geteuid() != 0:
        pytest.skip("the controls run as root, who alone may do all of it unprotected")
    owner = sandbox_owner()
    assert owner is not None
    groups = {
        Unprotected(): [a for a in ATTACKS.values() if a.control not in ("user", "owner") and a.promise != "mounts"],
        Unprotected(uid=owner[0]): [a for a in ATTACKS.values() if a.control in ("user", "owner")],
        Unprotected(protecting=True): [a for a in ATTACKS.values() if a.promise == "mounts"],
    }
    return {o.name: o for sandbox, these in groups.items() for o in campaign(sandbox, these, PYTHON, control=True)}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_attack_works_unprotected(attack: Attack, controls: Mapping[str, Outcome]) -> None:
    outcome = controls[attack.name]
    if outcome.stopped and attack.needed:
        pytest.skip(f"nothing to stop here: this machine lacks {attack.needed}")
    assert not outcome.stopped
    assert outcome.left == (), "a control leaves no process and no file behind"


def test_there_are_enough_attacks_of_every_kind() -> None:
    assert len(ATTACKS) >= 60
    promises = {a.promise for a in ATTACKS.values()}
    assert promises == {
        "files", "mounts", "namespaces", "calls", "terminal", "privileges", "devices", "kernel", "secrets", "network",
        "sockets", "processes", "survival", "limits", "later", "setup",
    }  # fmt: skip
