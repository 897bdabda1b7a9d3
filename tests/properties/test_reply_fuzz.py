"""Mutated replies: no crash, nothing outside the rules, and each refusal in words that a model can act on.

REFEREE_FUZZ=100000 for the full count.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from typing import Any

from referee.context.prompt import Prompt
from referee.domain.errors import Rejected
from referee.domain.opinion import Opinion
from referee.domain.patch import Patch
from referee.domain.paths import objection
from referee.domain.proposal import PatchProposal
from referee.domain.protection import Protection
from referee.domain.resolve import resolve
from referee.domain.strict_json import parse
from referee.testing import FakeWorkspace

COUNT = int(os.environ.get("REFEREE_FUZZ", "2000"))
RULES = Protection(source=("src",))
FILES = {
    "src/a.py": b"def f(x):\n    return x - 1\n\n\ndef g(x):\n    return f(x) * 2\n",
    "src/crlf.py": b"a = 1\r\nb = 2\r\n",
    "src/latin.py": b"# caf\xe9\nx = 1\n",
    "tests/test_a.py": b"from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n",
    "README.md": b"# hello\n",
}
SEED: dict[str, Any] = {
    "analysis": "f subtracts",
    "root_cause": "the operator in f",
    "files": [
        {"path": "src/a.py", "action": "modify", "rationale": "add", "edits": [{"old": "x - 1", "new": "x + 1"}]},
        {"path": "src/new.py", "action": "create", "rationale": "new", "content": "y = 1\n"},
        {"path": "src/crlf.py", "action": "modify", "rationale": "two", "edits": [{"old": "b = 2", "new": "b = 3"}]},
    ],
    "test_targets": [],
    "risk": "low",
    "touches_external": False,
}
HOSTILE: list[Any] = [
    "../x.py", "/etc/passwd", "tests/test_a.py", "conftest.py", "src/../conftest.py", ".git/config", "src\\a.py",
    "src/evil.pth", "src/a.py/b.py", "SRC/A.PY", "src/caf\u00e9.py", "src/cafe\u0301.py", "src/\u202ea.py", "src/a.py ",
    "\ud800", "\x00", "", " ", "~/.ssh/id_rsa", "pyproject.toml", "src/.env", "x" * 600, "[referee: 3 lines not shown]",
    None, True, -1, 1e308, [], {}, [[]], {"old": "x"}, "```", '{"a": 1}', "NaN",
]  # fmt: skip


def test_mutated_replies_are_refused_in_words_or_stay_within_the_rules() -> None:
    chance = random.Random(5)
    workspace = FakeWorkspace(FILES)
    tree = workspace.snapshot("r").tree
    outcomes = {"refused": 0, "applied": 0}
    for _ in range(COUNT):
        reply = mutated(chance)
        try:
            patch = meant(reply, workspace, tree)
        except Rejected as refused:
            outcomes["refused"] += 1
            assert refused.findings
            for finding in refused.findings:
                assert 8 <= len(finding.message) <= 6_000, reply
                assert finding.model_dump_json()  # and it can be recorded
            continue
        outcomes["applied"] += 1
        for change in patch.changes:
            assert objection(change.path) is None and RULES.objection(change.path) is None, reply
            assert change.path.startswith("src/")
        workspace.apply(tree, patch)
    assert min(outcomes.values()) > COUNT / 50, outcomes
    assert {p: c.data for p, c in workspace.files.items()} == FILES


def test_mutated_opinions_never_crash() -> None:
    chance = random.Random(6)
    seed = {"passed": True, "failed_assertions": [], "blocking_issues": ["x"], "must_not_merge": False, "reason": "r"}
    for _ in range(COUNT // 4):
        try:
            opinion = parse(mutated(chance, seed), Opinion)
        except Rejected as refused:
            assert refused.findings[0].message
        else:
            assert opinion.objections or (opinion.passed and not opinion.must_not_merge)


def meant(reply: str, workspace: FakeWorkspace, tree: str) -> Patch:
    """What the author and the attempt make of a reply."""
    from referee.authors.model import _checked

    proposal: PatchProposal = _checked(reply, Prompt(text="", whole=tuple(FILES)))
    return resolve(
        proposal,
        read=lambda path: workspace.read(tree, path),
        executable=lambda path: workspace.executable(tree, path),
        paths=workspace.paths(tree),
        forbidden=lambda path: objection(path) or RULES.objection(path),
    )


def mutated(chance: random.Random, seed: dict[str, Any] = SEED) -> str:
    document = copy.deepcopy(seed)
    for _ in range(chance.choice((0, 1, 1, 2, 4))):
        chance.choice(STRUCTURAL)(document, chance)
    text = json.dumps(document, ensure_ascii=chance.random() < 0.5)
    text = chance.choice(("{}", "```json\n{}\n```", "Here it is:\n{}\nDone.", "{} and {{}}", "{0}\n{0}")).format(text)
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(chance.choice((0, 0, 0, 1, 2, 8))):
        chance.choice(BYTEWISE)(data, chance)
    return data.decode("utf-8", chance.choice(("replace", "surrogateescape", "ignore")))


def _nodes(value: Any) -> list[Any]:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(n for v in below for n in _nodes(v))]


def _set(document: Any, chance: random.Random) -> None:
    place = chance.choice([n for n in _nodes(document) if isinstance(n, dict | list) and n])
    key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
    place[key] = copy.deepcopy(chance.choice(HOSTILE))


def _path(document: Any, chance: random.Random) -> None:
    named = [n for n in _nodes(document) if isinstance(n, dict) and "path" in n]
    if named:
        chance.choice(named)["path"] = chance.choice(HOSTILE)


def _drop(document: Any, chance: random.Random) -> None:
    place = chance.choice([n for n in _nodes(document) if isinstance(n, dict) and n] or [document])
    if place:
        place.pop(chance.choice(list(place)))


def _add(document: Any, chance: random.Random) -> None:
    chance.choice([n for n in _nodes(document) if isinstance(n, dict)])[f"k{chance.randrange(9)}"] = 1


def _double(document: Any, chance: random.Random) -> None:
    lists = [n for n in _nodes(document) if isinstance(n, list) and n]
    if lists:
        place = chance.choice(lists)
        place.append(copy.deepcopy(chance.choice(place)))


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    del data[start : start + chance.randrange(20)]


def _insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice((b"{", b"}", b'"', b"\\", b"\0", b"\xff", b"[" * 90, b"1e999", b"NaN", b"\xed\xa0\x80"))


def _repeat(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    data[start:start] = data[start : start + chance.randrange(200)]


STRUCTURAL: list[Callable[[Any, random.Random], None]] = [_set, _path, _drop, _add, _double]
BYTEWISE: list[Callable[[bytearray, random.Random], None]] = [_flip, _cut, _remove, _insert, _repeat]
