"""The tools that run something in the sandbox: bash, grep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from referee.actions.execute import ExecuteWarm
from referee.actions.jobs import StartJob
from referee.actions.tree import Apply
from referee.domain.changes import Line, Tree, Work, lines_of, work
from referee.domain.errors import Rejected
from referee.domain.observation import Observation, failed
from referee.domain.patch import Patch, composed, patch_of
from referee.domain.paths import objection
from referee.domain.risk import Risk
from referee.ports import Command, Execution, Job, Limits, Mount
from referee.tools.room import Room
from referee.tools.tool import tool
from referee.tools.words import both_ends, counted, readable

INSIDE = "/referee/tools"
LONGEST = 600
SHOWN_CHARS = 30_000
SHOWN_ROWS = 250
_KEPT_BYTES = 4 << 20  # of a command's output
_MOST = 16 << 20  # bytes of changed files
_GRACE = 15.0  # seconds to look at the files before and after
_NAMED = 5


@tool("execution", Risk.SCRATCH, needs="shell")
def bash(
    room: Room,
    command: Annotated[str, Field(min_length=1)],
    why: Annotated[str, Field(min_length=1, description="purpose, in one sentence")],
    timeout: Annotated[int, Field(ge=1, le=LONGEST, description="seconds")] = 60,
    cwd: str = ".",
    background: bool = False,
) -> Observation:
    """Run a shell command in a sandbox: no network, a fresh shell each time, in the folder cwd.

    Files it changes are kept for the next call; variables, cd and processes are not. Changes to protected files are
    undone. With background it runs on beside other calls, for at most timeout seconds; its files and ports are its own.
    Not for reading or searching (read, grep), and not for the verdict on your work (check).
    """
    place = room.located(cwd)
    patch = _patch(room)
    asked = {
        "what": "run", "command": command, "cwd": place, "seconds": timeout, "most": _MOST, "patched": patch.touched,
    }  # fmt: skip
    if background:
        return _started(room, {**asked, "most": 0}, patch, timeout + _GRACE)
    execution = _execute(room, asked, patch, timeout + _GRACE)
    try:
        lines = lines_of(execution.channel)
    except Rejected:
        lines = []
    done = work(lines, _bound(room))
    observed = _observed(room, execution, lines, done)
    if not done.patch.changes:
        return observed
    tree = room.run.perform(Apply(base=room.tree, patch=done.patch))
    return observed.model_copy(update={"tree": tree})


def _started(room: Room, asked: Mapping[str, Any], patch: Patch, seconds: float) -> Observation:
    """Start it as a job; what it writes is heard, what it changes dies with it."""
    name = f"job{len(room.jobs) + 1}"
    command, job = _prepared(room, asked, patch, seconds)
    # A process of its own, so that it can be ended: a variable makes its command differ from every other.
    own = command.model_copy(update={"env": {**command.env, "REFEREE_JOB": room.job_id(name)}})
    room.run.perform(StartJob(job=room.job_id(name), command=own, work=job))
    return Observation(text=f"[{name} started]", job=name)


def _execute(room: Room, asked: Mapping[str, Any], patch: Patch, seconds: float) -> Execution:
    command, job = _prepared(room, asked, patch, seconds)
    return room.run.perform(ExecuteWarm(command=command, jobs=(job,))).items[0]


def _prepared(room: Room, asked: Mapping[str, Any], patch: Patch, seconds: float) -> tuple[Command, Job]:
    shell = room.shell
    assert shell is not None  # `needs` makes it ready
    command = Command(
        argv=(shell.interpreter, "-I", "-S", "-B", f"{INSIDE}/shell.py"),
        base=shell.base.model_copy(update={"protected": ()}),  # what it may not change is undone, and told to it
        cwd=shell.base.mount_at,
        env=shell.env,
        mounts=(*shell.mounts, Mount(source=str(Path(__file__).parent / "inside"), target=INSIDE)),
        channel=True,
    )
    limits = Limits(
        wall_seconds=seconds, cpu_seconds=None, memory_bytes=4 << 30, processes=512, disk_bytes=1 << 30,
        output_bytes=_KEPT_BYTES,
    )  # fmt: skip
    return command, Job(argv=(json.dumps(asked),), patch=patch, limits=limits)


def _patch(room: Room) -> Patch:
    """From the copy that commands stand on to the files as they are now."""
    assert room.shell is not None
    base = room.shell.base.tree
    if room.patch is None or room.patch[0] != room.tree:
        room.patch = (room.tree, room.run.between(base, room.tree) if base != room.tree else Patch())
    own = room.patch[1]
    return composed(own, patch_of(dict(room.scratch))) if room.scratch else own


def _bound(room: Room) -> Tree:
    protection = room.place.protection
    return Tree(
        paths=frozenset(room.paths()),
        read=lambda path: room.run.read(room.tree, path),
        executable=lambda path: room.run.executable(room.tree, path),
        objection=lambda path: objection(path) or protection.objection(path),
    )


def _observed(room: Room, execution: Execution, lines: list[Line], done: Work) -> Observation:
    """The output, then how it ended, what changed and what of that was not kept."""
    text, bad = readable(execution.stdout)
    ended = lines[-1] if lines and not lines[-1].path else None
    if ended is not None and ended.failed:
        return failed(f"{ended.failed}; cwd is relative to the repository's root")
    killed = execution.killed_by or ("its time" if ended is None or ended.exit is None else "")
    code = ended.exit if ended is not None else None
    meta = [f"killed by {killed}" if killed else f"exit code {code}", f"{execution.duration_ms / 1000:.1f} s"]
    if len(text) > SHOWN_CHARS:
        meta.append(f"{len(text)} characters, all of them in {room.next_output}")
    if execution.stdout_total > len(execution.stdout):
        meta.append(f"of {execution.stdout_total} bytes of output the first {len(execution.stdout)} were kept")
    meta += [f"{bad} bytes were no UTF-8"] if bad else []
    meta += [f"changed: {_some(done.patch.touched)}"] if done.patch.touched else []
    meta += [f.message for f in done.undone[:_NAMED]]
    over = tuple(line.path for line in lines if line.over)
    meta += [f"too large to keep: {_some(over)}"] if over else []
    if killed and ended is None:
        meta.append("its changes are lost")
    kept = room.run.put(text.encode()) if len(text) > SHOWN_CHARS else ""
    scratch = _scratch(room, done.scratch)
    shown = both_ends(text, SHOWN_CHARS).rstrip("\n")
    said = "\n".join(part for part in (shown, f"[{'; '.join(meta)}]") if part)
    went_well = code == 0 and not killed
    return Observation(text=said, outcome="done" if went_well else "failed", kept=kept, scratch=scratch)


def _scratch(room: Room, patch: Patch) -> str:
    new = [c for c in patch.changes if room.scratch.get(c.path) != c.after]
    return room.run.put(Patch(changes=tuple(new)).model_dump_json().encode()) if new else ""


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


@tool("search", Risk.READ, needs="shell")
def grep(  # noqa: PLR0913 - one parameter per argument is how a tool is read
    room: Room,
    pattern: Annotated[str, Field(min_length=1, description="regular expression")],
    path: str = ".",
    glob: Annotated[str, Field(description="only files whose name matches, such as *.py")] = "",
    case: bool = True,
    context: Annotated[int, Field(ge=0, le=20, description="lines around each match")] = 0,
    offset: Annotated[int, Field(ge=0, description="rows to skip")] = 0,
) -> Observation:
    """Search the contents of files; rows are path:line:text.

    Not for file names: use glob. Not for reading a file: use read.
    """
    place = room.located(path)
    asked = {
        "what": "search", "pattern": pattern, "path": place, "glob": glob, "case": case, "context": context,
    }  # fmt: skip
    execution = _execute(room, asked, _patch(room), 60.0)
    try:
        said = json.loads(execution.channel.splitlines()[-1])
    except (IndexError, ValueError):
        return failed(f"the search was ended by its limits ({execution.killed_by}); make it narrower")
    if "failed" in said:
        return failed(str(said["failed"]))
    rows = [readable(r.encode())[0] for r in said["rows"]]
    page = rows[offset : offset + SHOWN_ROWS]
    where = f"{counted(said['matches'], 'match')} in {counted(said['files'], 'file')}"
    if not rows:
        return Observation(text=f"[no match for {pattern} in {place}{' in ' + glob if glob else ''}]")
    last = offset + len(page)
    meta = [where] if len(page) == len(rows) else [f"rows {offset + 1}-{last} of {len(rows)}, {where}"]
    whole = ""
    if len(rows) > len(page):
        meta.append(f"go on with offset={last}" if last < len(rows) else "these are the last")
        meta.append(f"all rows in {room.next_output}")
        whole = room.run.put("\n".join(rows).encode())
    return Observation(text="\n".join([*page, f"[{'; '.join(meta)}]"]), kept=whole)
