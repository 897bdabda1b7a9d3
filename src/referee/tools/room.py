"""Where an agent works: a tree that its calls move forward, and what it has seen, planned and noted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.hooks import Hook
from referee.domain.memory import Standing
from referee.domain.observation import Note, Observation, Presented, Seen, Todo
from referee.domain.patch import FileContent, Patch
from referee.domain.paths import objection
from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.kernel.run import Run
from referee.ports import Base, Mount

OUTPUTS = ".harness/outputs/"  # where the whole of long outputs can be read, by tools and by commands


class Shell(Value):
    """What commands run in: the copy they see, the interpreter that looks after them, mounts and environment."""

    base: Base
    interpreter: str
    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, str] = {}


def _no_shell(run: Run) -> Shell:
    raise ValueError("commands cannot be run here")


def _no_judge(run: Run) -> None:
    """Nothing to make ready."""


def _no_checks(run: Run, tree: str, targets: tuple[str, ...]) -> Observation:
    return Observation(text="there are no checks here", outcome="failed")


def _nothing_remembered(query: str) -> str:
    return "nothing is remembered"


class Part(Value):
    """A part of the work for another agent. With `write`, its changes are taken over."""

    task: str
    context: str = ""
    write: bool = False


def _no_skill(name: str) -> str:
    raise ValueError(f"there is no skill {name} here")


def _no_workflow(room: Room, path: str, arguments: str) -> Observation:
    raise ValueError("no workflow can be run here")


def _nobody(room: Room, parts: Sequence[Part]) -> Observation:
    raise ValueError("there is nobody to hand work to; do it yourself")


@dataclass(frozen=True, kw_only=True)
class Place:
    """What does not change while an agent works. `equip` and `judge` make ready what calls need; `examine` judges."""

    protection: Protection
    equip: Callable[[Run], Shell] = _no_shell
    judge: Callable[[Run], object] = _no_judge
    examine: Callable[[Run, str, tuple[str, ...]], Observation] = _no_checks


@dataclass(kw_only=True)
class Room:
    """The state of the work. Only `take` changes it, and only by what an observation says: a replay rebuilds it."""

    run: Run
    place: Place
    tree: str
    shell: Shell | None = None
    seen: dict[str, Seen] = field(default_factory=dict)
    scratch: dict[str, FileContent] = field(default_factory=dict)
    todo: tuple[Todo, ...] = ()
    memories: tuple[Standing, ...] = ()
    today: str = ""
    delegate: Callable[[Room, Sequence[Part]], Observation] = _nobody
    recall: Callable[[str], str] = _nothing_remembered
    skill: Callable[[str], str] = _no_skill
    play: Callable[[Room, str, str], Observation] = _no_workflow
    hooks: tuple[Hook, ...] = ()
    skills: list[str] = field(default_factory=list)  # those that were loaded
    asked: list[str] = field(default_factory=list)  # questions that nobody waits for and nobody has answered
    presented: list[Presented] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    outputs: int = 0
    jobs: list[str] = field(default_factory=list)
    home: str = field(init=False)  # where in the run it was entered: no other room has it, and a replay gives the same
    patch: tuple[str, Patch] | None = None  # from the copy that commands stand on to a tree: costly to find out
    ordinal: int = 0  # of the last request of those whom work was handed to
    granted: set[str] = field(default_factory=set)
    dropped: dict[str, str] = field(default_factory=dict)  # outputs no longer in the conversation, by path: for `read`

    def __post_init__(self) -> None:
        self.home = self.run.here

    def job_id(self, name: str) -> str:
        """What the run knows a job by: others at work at the same time may have given theirs the same name."""
        return f"{self.home}/{name}"

    def take(self, observed: Observation) -> None:
        """Make what a call came to the state from now on."""
        self.tree = observed.tree or self.tree
        self.seen.update({s.path: s for s in observed.seen})
        if observed.scratch:
            patch = Patch.model_validate_json(self.run.get(observed.scratch))
            for change in patch.changes:
                self.scratch.pop(change.path, None)
                if change.after is not None:
                    self.scratch[change.path] = change.after
        if observed.kept:
            self.outputs += 1
            self.scratch[f"{OUTPUTS}{self.outputs}.txt"] = FileContent(data=self.run.get(observed.kept))
        self.todo = self.todo if observed.todo is None else observed.todo
        if observed.job:
            self.jobs.append(observed.job)
        self.ordinal = max(self.ordinal, observed.ordinal)
        if observed.granted:
            self.granted.add(observed.granted)
        self.skills += [observed.skill] if observed.skill else []
        self.asked += [observed.asked] if observed.asked else []
        self.presented += [observed.presented] if observed.presented else []
        if observed.note is not None:
            self.notes.append(observed.note)

    @property
    def next_output(self) -> str:
        """The path that the next long output will have."""
        return f"{OUTPUTS}{self.outputs + 1}.txt"

    def located(self, path: str) -> str:
        """`path` relative to the root, however the model gave it. Raises `ValueError` if it leads out."""
        root = self.run.root
        given = os.path.normpath(path) if path else "."
        if os.path.isabs(given):
            if given != root and not given.startswith(root + "/"):
                raise ValueError(
                    f"{path} is outside the workspace {root}; give a path inside it, such as src/main.py. "
                    "To read what lies elsewhere, use bash"
                )
            given = os.path.relpath(given, root)
        if given.split("/")[0] == "..":
            raise ValueError(f"{path} is outside the workspace; give a path inside it, relative to {root}")
        why = None if given == "." or given.startswith(OUTPUTS) else objection(given)
        if why is not None:
            raise ValueError(why)
        return given

    def changeable(self, path: str) -> str:
        """`path` relative to the root. Raises `Rejected` at once for one that no proposal may change."""
        place = self.located(path)
        why = self.place.protection.objection(place)
        if why is not None:
            raise Rejected(
                (Finding(kind=FindingKind.UNAUTHORISED, check="policy", path=place, rule="protected", message=why),)
            )
        return place

    def read(self, path: str) -> bytes | None:
        """A file's bytes, from the tree or from what git ignores; None if there is none."""
        if path in self.dropped:
            return self.dropped[path].encode("utf-8", "replace")
        if path in self.scratch:
            return self.scratch[path].data
        return self.run.read(self.tree, path)

    def paths(self) -> tuple[str, ...]:
        """The files of the tree."""
        return self.run.paths(self.tree)
