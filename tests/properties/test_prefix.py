"""One distinct prefix over a run's calls, whatever skills, findings and files do.

REFEREE_CALLS=1000 for the full count.
"""

from __future__ import annotations

import hashlib
import json
import os

from referee.authors.model import ModelAuthor, Voice
from referee.domain.brief import Brief
from referee.domain.cost import Budget
from referee.domain.finding import Finding
from referee.domain.task import Task
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import ModelReply, ModelRequest, Price
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

CALLS = int(os.environ.get("REFEREE_CALLS", "100"))
FREE = Price(input=0, output=0, cache_read=0, cache_write=0, source="t")  # type: ignore[arg-type]
REPLY = {
    "analysis": "a",
    "root_cause": "r",
    "files": [{"path": "src/a.py", "action": "create", "content": "x = 2\n", "rationale": "w"}],
}


class Listening:
    """Remembers the digest of everything that precedes the first message."""

    name = "t:one"

    def __init__(self) -> None:
        self.prefixes: list[str] = []
        self.questions: set[str] = set()

    def price(self) -> Price:
        return FREE

    def call(self, request: ModelRequest) -> ModelReply:
        prefix = json.dumps([request.system, request.reply_schema, request.reply_name])
        self.prefixes.append(hashlib.sha256(prefix.encode()).hexdigest())
        self.questions.add(request.messages[0].content)
        return ModelReply(content=json.dumps(REPLY))


def test_one_prefix_over_many_calls() -> None:
    model, store, clock = Listening(), MemoryStore(), FakeClock()
    workspace = FakeWorkspace({})
    store.create("r", "{}", "now")
    equipment = FakeEquipment(workspace, FakeSandbox(lambda command: ended(0)), {model.name: model}, clock)
    lease = store.claim("r", "me", clock.now(), 30.0)
    shared = Shared(run_id="r", world=equipment, journal=Journal(store, lease, clock), store=store)
    run = Run(shared, Budget(max_tokens=10**9))
    author = ModelAuthor(Voice(model=model.name, role="fixer"))
    for n in range(CALLS):
        skill = f"---\nname: s{n % 7}\ndescription: about x{n}\n---\nbody {n}\n".encode()
        files = {
            "src/a.py": b"x = %d\n" % n,
            f".agents/skills/s{n % 7}/SKILL.md": skill,
            "tests/test_a.py": b"import a\n",
        }
        tree = FakeWorkspace(files)
        workspace._trees.update(tree._trees | {f"t{n}": tree.files})
        finding = Finding(check="pytest", message=f"failed {n}", path="src/a.py", line=1)
        brief = Brief(
            task=Task(text=f"x{n}"), base=f"t{n}", targets=("tests/test_a.py::test",), feedback=f"f{n}",
            findings=(finding,), steps_left=n,
        )  # fmt: skip
        author.propose(run, brief)
    assert len(model.prefixes) == len(model.questions) == CALLS
    assert len(set(model.prefixes)) == 1
