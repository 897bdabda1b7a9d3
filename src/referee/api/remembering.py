"""What is remembered: list, say, confirm, forget."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime

from referee.api.tools import sandbox
from referee.config import Config, load
from referee.domain.admission import Admission, Said, admit
from referee.domain.errors import UsageError
from referee.domain.memory import Digest, Memory, MemoryLayer, Origin, Standing, standing
from referee.wiring import Desk


def memories(repo: str = ".", config: Config | None = None) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """Every memory of this repository and this person with its state, and what could not be read, in words."""
    with Desk(repo, config or load(repo)) as desk:
        kept = desk.surroundings.memories
        return standing(kept.all(), _today(desk), desk.surroundings.digest), kept.problems()


def remember(said: Said, repo: str = ".", *, files: Iterable[str] = ()) -> tuple[Admission, Standing | None]:
    """Keep what a person says; it is confirmed by being said. `files` are paths whose change makes it stale.

    Raises `UsageError` in words if it may not be kept.
    """
    with Desk(repo, load(repo)) as desk:
        said = said.model_copy(update={"files": {path: _there(path, desk.surroundings.digest) for path in files}})
        admission = admit(
            said, standing(desk.surroundings.memories.all(), _today(desk), desk.surroundings.digest), _today(desk)
        )
        if admission.refused:
            raise UsageError(f"not remembered: {'; '.join(admission.refused)}")
        if admission.memory is None:
            return admission, None
        kept = desk.surroundings.memories.keep(admission.memory)
        if said.origin is Origin.PERSON:
            desk.surroundings.memories.confirm(kept, "person")
        return admission, _one(desk, admission.memory.id)


def memory(memory_id: str, repo: str = ".") -> Standing:
    """One memory with its state. Raises `UsageError` with the nearest id if there is none."""
    with Desk(repo, load(repo)) as desk:
        return _one(desk, memory_id)


def confirm(memory_id: str, repo: str = ".", *, check: str = "") -> Standing:
    """Let a memory count: because a person says so or, with `check`, because that command exits with 0 in the sandbox.

    What had changed meanwhile counts as it is now. Raises `UsageError` if the check fails.
    """
    with Desk(repo, load(repo)) as desk:
        one = _one(desk, memory_id)
    if check:
        ended = sandbox(tuple(shlex.split(check)), repo)
        if ended.exit_code != 0:
            how = ended.killed_by or f"exit code {ended.exit_code}"
            raise UsageError(f"not confirmed: `{check}` ended with {how}; `referee memory forget {memory_id}` drops it")
    with Desk(repo, load(repo)) as desk:
        kept = one.kept
        now = {path: _there(path, desk.surroundings.digest) for path in kept.memory.files}
        if now != kept.memory.files:
            kept = desk.surroundings.memories.keep(kept.memory.model_copy(update={"files": now}))
        desk.surroundings.memories.confirm(kept, f"check: {check}" if check else "person")
        return _one(desk, memory_id)


def forget(memory_id: str, repo: str = ".") -> Memory:
    """Delete a memory; what it was."""
    with Desk(repo, load(repo)) as desk:
        one = _one(desk, memory_id).memory
        desk.surroundings.memories.forget(one.layer, one.id)
        return one


def _one(desk: Desk, memory_id: str) -> Standing:
    found = standing(desk.surroundings.memories.all(), _today(desk), desk.surroundings.digest)
    matching = [s for s in found if s.memory.id == memory_id]
    if not matching:
        near = difflib.get_close_matches(memory_id, [s.memory.id for s in found], n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else "see `referee memory list --all`"
        raise UsageError(f"there is no memory {memory_id}; {hint}")
    # In both layers under one id: the person's is the one further away.
    return next((s for s in matching if s.memory.layer is MemoryLayer.PROJECT), matching[0])


def _today(desk: Desk) -> str:
    return datetime.fromtimestamp(desk.clock.now(), UTC).date().isoformat()


def _there(path: str, digest: Digest) -> str:
    found = digest(path)
    if found is None:
        raise UsageError(f"there is no file {path} in the repository; give its path from the root")
    return found
