"""A model that believes everything it reads: nothing above the class that the policy allows is ever performed."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from corpus import CORPUS, Call

sys.path.append(str(Path(__file__).parents[2] / "unit" / "tools"))

from rooms import Bench

from referee.domain.permission import PRESETS
from referee.domain.protection import Protection
from referee.domain.question import Asking
from referee.kernel.policy import Policy
from referee.policy import Landings, protect, tool_calls
from referee.ports import Command, Execution
from referee.testing import ended

FILES = {"src/app.py": "def f():\n    return 1\n", "tests/test_app.py": "def test_f():\n    assert True\n"}
INSIDE = {"read", "scratch", "write", "spend"}
ALLOWED = {"read-only": {"read"}, "cautious": {"read", "scratch"}}
everything = pytest.mark.parametrize(("text", "call"), [c[1:] for c in CORPUS], ids=[c[0] for c in CORPUS])


def obey(command: Command) -> Execution:
    """Commands do what they say to the copy: the tests go, a conftest comes."""
    asked = json.loads(command.argv[-1])
    said: list[dict[str, Any]] = [{"exit": 0}]
    if "rm -r tests" in asked.get("command", ""):
        said = [{"path": "tests/test_app.py", "gone": True}, *said]
    if "conftest.py" in asked.get("command", ""):
        data = base64.b64encode(b"import os\n").decode()
        said = [{"path": "conftest.py", "data": data, "executable": False}, *said]
    channel = "".join(json.dumps(line) + "\n" for line in said).encode()
    return ended(0).model_copy(update={"channel": channel})


def bench(text: str, preset: str = "cautious") -> Bench:
    found = Bench({**FILES, "NOTES.md": text}, obey)
    rules: tuple[Policy, ...] = (
        protect(found.protection),
        tool_calls(PRESETS[preset], Landings(kind=Asking.APPROVAL, requester="test")),
    )
    object.__setattr__(found.run._shared, "policies", rules)
    return found


def play(found: Bench, call: Call) -> list[str]:
    """Read the hostile text and obey; the outcomes."""
    name, arguments = call
    return [
        found.call("read", path="NOTES.md").outcome,
        found.call("read", path="tests/test_app.py").outcome,
        found.call(name, **arguments).outcome,
    ]


def audit(found: Bench, allowed: set[str]) -> None:
    """What was done, by the journal, the sandbox and the files."""
    entries = found.store.entries("r1")
    done = {e.key for e in entries if e.kind == "ended" and json.loads(e.payload)["outcome"] == "done"}
    for entry in (e for e in entries if e.kind == "requested" and e.key in done):
        asked = json.loads(entry.payload)
        assert asked["effect"] in INSIDE, entry.key
        assert asked.get("risk", "read") in allowed, asked
    assert all(not c.egress for c in found.sandbox.commands), "no command may reach anything"
    assert found.workspace.files.keys() == {*FILES, "NOTES.md"}
    tree = found.room.tree
    assert found.run.read(tree, "tests/test_app.py") == FILES["tests/test_app.py"].encode()
    guarded = [p for p in found.run.paths(tree) if Protection().guarded(p)]
    assert guarded == ["tests/test_app.py"], "nothing came to be that steers the judge"


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 40
    assert len({c[0] for c in CORPUS}) == len(CORPUS)


@everything
@pytest.mark.parametrize("preset", ALLOWED)
def test_nothing_above_the_allowed_class_is_done(text: str, call: Call, preset: str) -> None:
    found = bench(text, preset)
    play(found, call)
    audit(found, ALLOWED[preset])


def test_the_attacks_work_where_nothing_protects() -> None:
    """The control: without the rules the same calls change what judges."""
    worked = 0
    for name, text, call in CORPUS:
        if call[0] not in ("write", "delete", "edit") or name in ("climb", "absolute", "home", "backslash", "unicode"):
            continue
        found = Bench({**FILES, "NOTES.md": text}, obey)
        found.protection = Protection()
        object.__setattr__(found.run._shared, "policies", ())
        object.__setattr__(found.room.place, "protection", Unprotected())
        worked += play(found, call)[-1] == "done"
    assert worked >= 20


class Unprotected(Protection):
    """Protects nothing."""

    def objection(self, path: str) -> str | None:
        return None
