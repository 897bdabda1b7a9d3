"""Where a result goes: settled before the run does any work, and the patch file that a run may leave."""

from __future__ import annotations

import os
import shlex

from referee.actions.publish import OpenPullRequest
from referee.api.recorder import write_whole
from referee.api.spec import Spec
from referee.config import Config
from referee.domain.commit_message import subject
from referee.domain.errors import Exhausted, UsageError, WorldFault
from referee.domain.reason import StopReason
from referee.domain.report import Outcome, Report
from referee.flows.plan import Ended
from referee.kernel.run import Run
from referee.ports import Landing, Published, PullRequest, Workspace
from referee.render import markdown
from referee.wiring import Desk

PATCH = "patch:"
PRINTED = "patch:-"  # whoever shows the outcome prints it


def absolute(config: Config) -> Config:
    """The settings with a patch file's place made absolute, so that a resume elsewhere means the same.

    Raises `UsageError` if the file is there already or cannot be written.
    """
    if not config.land.startswith(PATCH) or config.land == PRINTED:
        return config
    path = os.path.abspath(config.land.removeprefix(PATCH))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} cannot be written to; give --land patch:FILE another place")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already and is not overwritten; give --land patch:FILE a new name")
    return config.model_copy(update={"land": PATCH + path})


def checked(desk: Desk) -> Config:
    """The settings with what a person should know about their `land`. Raises `UsageError` if it is impossible."""
    told = desk.workspace.check_place(desk.config.land)
    return desk.config.model_copy(update={"notes": (*desk.config.notes, *told)})


def place(land: str, run_id: str) -> str:
    """What the repair itself has to do for `--land`; patch files and pull requests are made of it at the end."""
    if land == "pr":
        return f"branch:referee/{run_id}"
    return "none" if land.startswith(PATCH) else land


def body(report: Report) -> str:
    """The text of a pull request: the report, without what only concerns this machine and its user's other files."""
    return markdown(report.model_copy(update={"config": (), "environment": {}, "notes": ()}))


def publish(run: Run, workspace: Workspace, ended: Ended, spec: Spec, body: str) -> Ended:
    """Open the pull request that was asked for; if that fails, say so, and what to type: the branch is there."""
    if not ended.solved or ended.landing is None:
        return ended
    branch = ended.landing.how.partition(":")[2]
    request = PullRequest(branch=branch, title=subject(spec.task.text, ended.targets), body=body)
    try:
        done = run.perform(OpenPullRequest(request=request))
    except Exhausted as spent:
        done = Published(said=f"the pull request is not opened: {spent}", commands=workspace.by_hand(request))
    if done.url:
        return ended.model_copy(update={"landing": Landing(how="pr", revision=done.url)})
    run.note("; ".join([done.said, *(f"type: {command}" for command in done.commands)]))
    return ended


def hand_over(outcome: Outcome, land: str, diff: bytes) -> None:
    """Write the patch file of a solved run, never over another file. Raises `UsageError` if one has appeared."""
    if not outcome.solved or not land.startswith(PATCH) or land == PRINTED:
        return
    path = land.removeprefix(PATCH)
    beside = f"{path}.{outcome.report.run_id}"
    write_whole(beside, diff)
    try:
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            _create(path, diff)
    except FileExistsError:
        with open(path, "rb") as file:  # an earlier try of this run may have got so far
            if file.read() != diff:
                raise UsageError(f"{path} appeared while the run worked and is not overwritten; move it away") from None
    except OSError as error:
        raise WorldFault(f"{path} could not be written: {error}") from error
    finally:
        os.unlink(beside)


def _create(path: str, data: bytes) -> None:
    """Write a new file; nothing is left of one that failed."""
    with open(path, "xb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            os.unlink(path)
            raise


def keep(run: Run, ended: Ended, reports: str) -> None:
    """Say where a proposal is that could not be landed, and what applies it."""
    path = os.path.join(reports, f"{run.id}.patch")
    if ended.reason is StopReason.NEEDS_SIGNATURE and ended.patch.touched:
        run.note(f"to take the proposal as it is, type: git apply {shlex.quote(path)}")
    if ended.reason is StopReason.BASE_MOVED:
        run.note(f"to apply what fits of the proposal, type: git apply --reject {shlex.quote(path)}")
