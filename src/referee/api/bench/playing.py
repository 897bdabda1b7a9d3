"""One trial: the task's files in a repository, one run of the ordinary repair, and what is there afterwards."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee import api
from referee.api.bench.ground import Ground, Heard, furnish
from referee.api.bench.harm import Watch
from referee.api.bench.record import Played, replies_of
from referee.api.recorder import write_whole
from referee.config import Config, load
from referee.domain.errors import Cancelled, UsageError
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.reason import StopReason
from referee.domain.report import Outcome, Report
from referee.domain.task import Task
from referee.domain.value import Value
from referee.evals.adversary import Plan
from referee.evals.configuration import Configuration
from referee.evals.measure import Aftermath, measured
from referee.evals.scene import Scene, guarded
from referee.evals.trial import Result, Trial

_PLAYING = "playing"
_ASIDE = "known"
_KNOWN = ("facts", "cache")  # what runs find out about a tree and about the machine


class Player(Value):
    """Who plays: `search`, `adversary`, `model` or `command:ARGV`, with the flags that go with it.

    An adversary with a model wraps it: where it plays fair, the model answers.
    """

    name: str
    flags: Mapping[str, str] = {}

    @property
    def simulated(self) -> bool:
        """Whether what it does is made up."""
        return self.name == "adversary"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Where a task is played: `folder` is its own, `truth` its right tree, `baseline` what that one's tests say."""

    folder: str
    scene: Scene
    truth: Ground
    baseline: Heard
    player: Player
    seed: int
    heard: dict[str, Heard]

    @property
    def repo(self) -> str:
        """The repository that is given to the player."""
        return os.path.join(self.folder, self.scene.task.pkg or self.scene.task.key or "repository")


def play(table: Table, trial: Trial, configuration: Configuration) -> Played:
    """Begin the trial, or go on with it where an earlier try of it was cut off.

    Raises `Cancelled` if a person stops it.
    """
    with Watch(os.path.join(table.folder, "canary")) as watch:
        seed = table.seed + trial.repeat - 1
        fresh = not _cut_off(table, trial)
        if fresh:
            _set_up(table, trial)
        config = _config(table, configuration, trial, watch.port)
        watch.begin()
        try:
            outcome = _run(table, config, fresh)
        except UsageError as refused:
            return _refused(table, trial, seed, str(refused))
        if outcome.stop_reason is StopReason.HUMAN_ABORT:  # no result: the run can be resumed
            raise Cancelled("stopped by a person")
        files = _files(table.repo)
        changed = _changed(table.scene.given, files)
        verdict = _verdict(table, files) if changed else None
        replies = replies_of(table.repo, outcome.report.run_id)
        stay = lasting(table.baseline, table.scene)
        left = Aftermath(changed=changed, heard=verdict, lasting=stay, replies=replies)
        result = measured(table.scene, trial, outcome.report, left)
        harm = watch.harm()
        update = {
            "player": table.player.name, "seed": seed,
            "unauthorised_done": result.unauthorised_done + harm,
        }  # fmt: skip
        return Played(result=result.model_copy(update=update), report=outcome.report)


def _cut_off(table: Table, trial: Trial) -> bool:
    """Whether this very trial has begun here before."""
    try:
        with open(os.path.join(table.folder, _PLAYING), encoding="utf-8") as file:
            return file.read() == trial.id and os.path.isdir(os.path.join(table.repo, ".harness"))
    except FileNotFoundError:
        return False


def _set_up(table: Table, trial: Trial) -> None:
    """A repository with the task's files; what earlier trials found out about that very tree is kept."""
    state, aside = os.path.join(table.repo, ".harness"), os.path.join(table.folder, _ASIDE)
    if os.path.lexists(table.repo):
        _moved(state, aside)
        shutil.rmtree(table.repo)
    furnish(table.repo, table.scene.given)
    _moved(aside, state)
    write_whole(os.path.join(table.folder, _PLAYING), trial.id.encode())


def learnt(folder: str, truth: Ground) -> None:
    """What the right tree's sandbox found out about this machine need not be probed again by every trial."""
    aside = os.path.join(folder, _ASIDE, "cache")
    if os.path.isdir(truth.cache) and not os.path.lexists(aside):
        shutil.copytree(truth.cache, aside)


def _moved(source: str, target: str) -> None:
    """Take what is known from one folder to another; what is there already, of a trial that was cut off, stays."""
    os.makedirs(target, mode=0o700, exist_ok=True)
    for name in _KNOWN:
        if os.path.isdir(os.path.join(source, name)) and not os.path.lexists(os.path.join(target, name)):
            os.rename(os.path.join(source, name), os.path.join(target, name))


def _config(table: Table, configuration: Configuration, trial: Trial, port: int) -> Config:
    flags: dict[str, str] = {"generator": table.player.name, "land": "tree", **table.player.flags}
    if table.player.simulated:
        path = os.path.join(table.folder, "adversary.json")
        write_whole(path, _plan(table, trial, port).model_dump_json().encode())
        flags |= {"generator": "model", "models.default": f"adversary:{path}"}
    config = load(table.repo, flags=flags)
    update = {"parts": configuration.parts, "budget": configuration.budget, "seed": table.seed + trial.repeat - 1}
    return config.model_copy(update=update)


def _plan(table: Table, trial: Trial, port: int) -> Plan:
    scene = table.scene
    digest = hashlib.sha256(f"{table.seed} {trial.task} {trial.repeat}".encode()).digest()
    given = scene.given
    return Plan(
        seed=int.from_bytes(digest[:4], "big"),
        wrong={p: _text(given.get(p)) for p in scene.known},
        right={p: _text(c) for p, c in scene.known.items()},
        tests={p: _text(given[p]) or "" for p in scene.test_files if p in given},
        targets=scene.visible,
        canary=os.path.join(table.folder, "canary"),
        port=port,
        inner=table.player.flags.get("models.default", ""),
    )


def _text(content: FileContent | None) -> str | None:
    return None if content is None else content.data.decode("utf-8", "surrogateescape")


def _run(table: Table, config: Config, fresh: bool) -> Outcome:
    task = Task(repo=table.repo, text=table.scene.task.text, targets=table.scene.visible)
    earlier = () if fresh else api.runs(table.repo)
    if not earlier:
        return api.fix(task, config, wait=_patiently)
    if earlier[0].stop_reason is not None:
        return api.show(earlier[0].run_id, table.repo)
    return api.resume(earlier[0].run_id, table.repo, wait=_patiently)


def _patiently(words: str) -> None:
    """A worker that was told to end may still be at it for a moment: that is no reason to refuse the trial."""


def _refused(table: Table, trial: Trial, seed: int, why: str) -> Played:
    """A run that would not begin has no reason of its own to end; the exit code of its report is the refusal's."""
    begun = api.runs(table.repo, refused=True)
    run_id = begun[0].run_id if begun else ""
    result = Result(
        trial=trial, player=table.player.name, seed=seed, stratum=table.scene.task.stratum, run_id=run_id,
        hidden_tests=len(table.scene.hidden), success=False, solved=False, stop_reason="refused", why=why,
    )  # fmt: skip
    report = Report(
        run_id=run_id, task=table.scene.task.text, targets=table.scene.visible, stop_reason=StopReason.WORLD_FAULT,
        solved=False, generator=table.player.name, explanation=f"refused: {why}", exit=UsageError.exit_code,
    )  # fmt: skip
    return Played(result=result, report=report)


def _files(root: str) -> dict[str, FileContent]:
    found = {}
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if n not in (".git", ".harness")]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    mode = bool(os.stat(path).st_mode & 0o100)
                    found[os.path.relpath(path, root)] = FileContent(data=file.read(), executable=mode)
    return found


def _changed(before: Mapping[str, FileContent], after: Mapping[str, FileContent]) -> tuple[str, ...]:
    return tuple(sorted(p for p in {*before, *after} if before.get(p) != after.get(p)))


def _verdict(table: Table, files: Mapping[str, FileContent]) -> Heard:
    """What the fix's own tests say of the player's source; equal patches are judged once."""
    right = table.scene.right
    paths = [p for p in {*right, *files} if not guarded(p) and right.get(p) != files.get(p)]
    patch = patch_of({p: files.get(p) for p in paths})
    if patch.digest not in table.heard:
        table.heard[patch.digest] = table.truth.tests(patch, table.scene.test_files)
    return table.heard[patch.digest]


def lasting(baseline: Heard, scene: Scene) -> Sequence[str]:
    """The tests beside the deciding ones that pass with the fix, and so must go on passing."""
    return [t for t, o in baseline.outcomes.items() if o == "passed" and t not in scene.task.f2p]


def verified(truth: Ground, scene: Scene) -> tuple[Heard, str]:
    """What the tests say with the fix; and why the task does not hold on this machine, if it does not."""
    right, wrong = truth.tests(Patch(), scene.test_files), truth.tests(scene.wrong, scene.test_files)
    unlike = [t for t in scene.task.f2p if right.outcomes.get(t) != "passed" or wrong.outcomes.get(t) == "passed"]
    if right.broken:
        return right, f"the tests with the fix: {right.broken}"
    return right, f"{unlike[0]} does not fail without the fix and pass with it" if unlike else ""
