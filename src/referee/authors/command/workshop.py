"""A copy of the repository in the sandbox for a program to change, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from referee.authors.command.presets import PROMPT, PROMPT_FILE
from referee.domain.changes import Tree
from referee.domain.destination import Destination
from referee.domain.paths import objection
from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.judge import Bench
from referee.kernel.run import Run
from referee.ports import Command, Limits, Mount

INSIDE = "/referee/agent"
GRACE = 10.0  # seconds to look at the files before and after
_MOST = 16 << 20  # bytes of changed files
_PIECE = 100_000  # bytes of one argument; the kernel refuses 128 KiB


class Errand(Value):
    """A program to run for at most `seconds`, with a prompt if it is one that reads."""

    argv: tuple[str, ...]
    seconds: float
    prompt: str = ""
    env: Mapping[str, str] = {}
    mounts: tuple[Mount, ...] = ()
    egress: tuple[Destination, ...] = ()


def workshop(run: Run, bench: Bench, tree: str, errand: Errand) -> Command:
    """The command that runs `errand` on `tree` and reports what it changed."""
    project, base = bench.project, bench.base
    given = any(PROMPT in a or PROMPT_FILE in a for a in errand.argv)
    asked = {**errand.model_dump(include={"argv", "prompt", "seconds"}), "stdin": not given, "most": _MOST}
    text = json.dumps(asked)
    limits = Limits(
        wall_seconds=errand.seconds + GRACE, cpu_seconds=None, memory_bytes=4 << 30, processes=512, disk_bytes=1 << 30
    )
    return Command(
        argv=(
            *(project.interpreter.executable, "-s", "-S", "-B", f"{INSIDE}/errand.py"),
            *(text[i : i + _PIECE] for i in range(0, len(text), _PIECE)),
        ),
        # Nothing is read-only for it: what it may not change is undone, counted and told to it.
        base=base.model_copy(update={"protected": ()}),
        patch=run.between(base.tree, tree),
        cwd=project.root,
        env={**project.env, **errand.env},
        mounts=(*project.mounts, *errand.mounts, Mount(source=str(Path(__file__).parent / "inside"), target=INSIDE)),
        limits=limits,
        channel=True,
        egress=errand.egress,
    )


def bound(run: Run, tree: str, protection: Protection) -> Tree:
    """What a program may do to `tree`: the same as any proposal."""
    return Tree(
        paths=frozenset(run.paths(tree)),
        read=lambda path: run.read(tree, path),
        executable=lambda path: run.executable(tree, path),
        objection=lambda path: objection(path) or protection.objection(path),
    )
