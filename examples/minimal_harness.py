"""A harness of your own in about a hundred lines: your tools, your rules, referee's gate.

Run it with `python examples/minimal_harness.py`. It needs no key: the model is a script. What it shows, in order:

1. a tool is a function with a signature;
2. a rule is a function over actions;
3. a run performs actions: each is recorded, ruled on, paid for, done;
4. the tool loop is an author: what it leaves in its copy is a proposal;
5. the proposal lands, or not, and the record says why.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from referee.actions.call_tool import CallTool, observed
from referee.actions.tree import LandTree, PrepareBase, TakeSnapshot
from referee.authors.asking import Voice
from referee.authors.tools import ToolAuthor
from referee.config import load
from referee.domain.brief import Brief
from referee.domain.cost import Budget
from referee.domain.finding import Finding
from referee.domain.observation import Observation
from referee.domain.risk import Risk
from referee.domain.task import Task
from referee.kernel.action import Action
from referee.kernel.journal import Journal
from referee.kernel.policy import Deny, Ruling
from referee.kernel.run import Run, Shared
from referee.policy import protect
from referee.tools import TOOLS, Place, Room, Toolbox, tool
from referee.wiring import Desk, shell


# 1. A tool: its schema comes from the signature, its description from the docstring.
@tool("search", Risk.READ)
def longest(room: Room, ending: str = ".py") -> Observation:
    """Name the longest file with an ending. Not for reading it: use read."""
    sizes = {p: len(room.read(p) or b"") for p in room.paths() if p.endswith(ending)}
    best = max(sizes, key=lambda p: sizes[p], default="")
    return Observation(text=f"{best}: {sizes[best]} bytes" if best else f"no file ends in {ending}")


# 2. A rule: it sees every action before it happens. None means that it has no opinion.
def nothing_is_deleted(action: Action[Any]) -> Ruling | None:
    """Deny one tool, and say what to do instead."""
    if not (isinstance(action, CallTool) and action.tool == "delete"):
        return None
    why = "files are never deleted here; leave them and say so in your answer"
    return Deny(findings=(Finding(check="policy", rule="nothing-is-deleted", message=why),))


SCRIPT: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "longest", "arguments": {}}, {"name": "read", "arguments": {"path": "greet.py"}}]},
    {
        "tool_calls": [
            {"name": "edit", "arguments": {"path": "greet.py", "edits": [{"old": "Helo", "new": "Hello"}]}},
            {"name": "delete", "arguments": {"path": "old.py"}},
            {"name": "bash", "arguments": {"command": "python greet.py", "why": "to see it"}},
        ]
    },
    {"content": "The greeting is spelled right now. old.py is still there: deleting is not allowed."},
]


def repository(folder: Path) -> Path:
    """A git repository with a mistake in it."""
    folder.mkdir()
    (folder / "greet.py").write_text("print('Helo, world')\n")
    (folder / "old.py").write_text("x = 1\n")
    git = ["git", "-C", str(folder), "-c", "user.name=you", "-c", "user.email=you@example.invalid"]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *args], check=True)
    return folder


def main() -> None:
    """Play the script on a fresh repository and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        repo = repository(Path(folder) / "repo")
        script = Path(folder) / "script.jsonl"
        script.write_text("".join(json.dumps({"role": "agent", **line}) + "\n" for line in SCRIPT))
        config = load(str(repo), flags={"models.default": f"scripted:{script}"})
        with Desk(str(repo), config) as desk:
            # 3. A run: its journal is all that a resumed run needs.
            desk.store.create("example", "{}", "2026-01-01T00:00:00+00:00")
            journal = Journal(desk.store, desk.store.claim("example", "me", desk.clock.now(), 60.0), desk.clock)
            rules = (protect(config.protection), nothing_is_deleted)
            run = Run(
                Shared(run_id="example", world=desk, journal=journal, store=desk.store, policies=rules),
                Budget(timeout=120),
            )
            before = run.perform(TakeSnapshot(run_id=run.id)).tree
            base = run.perform(PrepareBase(tree=before, protection=config.protection))
            # 4. The tool loop, with one tool more than usual.
            place = Place(protection=config.protection, equip=lambda run: shell(run, desk.project(before), base))
            author = ToolAuthor(Voice(model=config.models.default, role="agent"), place, Toolbox((*TOOLS, longest)))
            offer = author.propose(
                run, Brief(task=Task(text="mend the greeting"), base=before, targets=(), feedback="")
            )
            print(f"answer: {offer.answer}")
            print(run.diff(before, author.tree).decode())
            # 5. Landing: all or nothing, and only where nobody has changed the files meanwhile.
            landing = run.perform(LandTree(run_id=run.id, before=before, after=author.tree))
            print(f"landed: {', '.join(landing.written)}; greet.py says {(repo / 'greet.py').read_text().strip()}")
            for entry in desk.store.entries("example"):
                if entry.action == CallTool.name and entry.kind == "ended":
                    ending = journal.ending(entry.key)
                    assert ending is not None
                    print(observed(ending.outcome, journal.result(ending)).splitlines()[-1])


if __name__ == "__main__":
    main()
