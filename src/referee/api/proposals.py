"""Things done to other systems, each after a person has signed exactly that."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from referee.adapters.outside import registry
from referee.adapters.signing import account
from referee.api.repairs import started
from referee.api.spec import Spec, asked_last, known
from referee.config import Config, load, secret
from referee.domain.errors import UsageError
from referee.domain.outside import Proposal, Request
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.ports import Progress
from referee.wiring import Desk


def propose(
    request: Request,
    undo: Request | None = None,
    repo: str = ".",
    config: Config | None = None,
    progress: Progress | None = None,
    wait: Callable[[str], None] | None = None,
) -> Outcome:
    """Ask for a signature on `request`; after `sign`, a resume sends it. `undo` is kept as what would take it back.

    Raises `UsageError` for a tool that is not registered, or arguments that are not in its form.
    """
    config = (config or load(repo)).model_copy(update={"land": "tree"})
    find = registry(config.outside.tools, secret)
    described = find(request.tool).describe(request.arguments)
    if undo is not None:
        find(undo.tool).describe(undo.arguments)
    proposal = Proposal(request=request, key=f"referee-{secrets.token_hex(16)}", requester=account(), undo=undo)
    task = Task(repo=repo, text=described.summary)
    return started(Spec(task=task, config=config, proposal=proposal), progress, wait)


def undo_of(run_id: str, repo: str = ".") -> Request:
    """What takes back what that run did outside: to be proposed in its turn. Raises `UsageError` if nothing does."""
    with Desk(repo, load(repo)) as desk:
        record = known(desk, run_id)
        proposal = asked_last(desk, record).proposal
        if proposal is None:
            raise UsageError(f"run {run_id} did nothing outside; `referee rollback {run_id}` undoes what it wrote here")
        if proposal.undo is None:
            raise UsageError(f"nothing is registered that takes back what run {run_id} did")
        if record.status != "done":
            raise UsageError(f"run {run_id} has not ended; see `referee questions`")
        return proposal.undo
