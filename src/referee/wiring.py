"""The composition root: from settings to a repository at hand, its sandbox, its store, its models and its players."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType

from pydantic import SecretStr

from referee.actions.tree import PrepareBase
from referee.adapters.clock import SystemClock
from referee.adapters.git import GitWorkspace
from referee.adapters.jobs import ThreadJobs
from referee.adapters.models.prices import stated
from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.adapters.models.recorded import RecordedModel, RecordingModel
from referee.adapters.models.scripted import ScriptedModel
from referee.adapters.outside import registry
from referee.adapters.python import find as find_python
from referee.adapters.sandbox import Outside, open_sandbox, sandbox_owner
from referee.adapters.signing import Keyring
from referee.adapters.store import FileShelf, SqliteStore
from referee.adapters.store.turn import turn
from referee.adapters.surroundings import LocalSurroundings, Locations
from referee.adapters.toolchains import find as find_toolchains
from referee.adapters.toolchains import program
from referee.authors.command import CommandAuthor, agent
from referee.authors.evaluator import Evaluator
from referee.authors.mechanical import MechanicalAuthor, mendable
from referee.authors.model import ModelAuthor, Voice
from referee.authors.search import SearchAuthor
from referee.authors.suspects import nowhere, traced
from referee.authors.tools import ToolAuthor, WorkflowAuthor, examiner
from referee.config import Before, Config, IsolationMode, secret, user_path
from referee.domain.errors import Exhausted, UsageError
from referee.domain.preset import PresetName
from referee.domain.protection import TESTS
from referee.domain.reason import StopReason
from referee.domain.report import IsolationStamp
from referee.domain.verdict import blocking
from referee.domain.workflow import Workflow
from referee.flows.agent import Errand, LateJudge
from referee.flows.plan import Plan, Player
from referee.judge import (
    Bench,
    CheckSpec,
    Ignore,
    Project,
    Scope,
    Settings,
    detect,
    edition,
    home,
    prepare,
    standing,
    test_patterns,
)
from referee.judge.project import search_path, variables
from referee.kernel.run import Run
from referee.ports import (
    Base,
    Command,
    Interpreter,
    Jobs,
    Level,
    Limits,
    Model,
    OutsideTool,
    Sandbox,
    Shelf,
    Store,
    Surroundings,
    Toolchain,
    Warm,
    Workspace,
)
from referee.tools import Place, Shell

STATE = ".harness"
OWN = sys.prefix  # referee's own environment: it has pytest, and ruff and mypy when they are installed beside it
SEARCH_STEPS_BEFORE_MODEL = 4
ADVERSARY = "adversary:"  # each of its answers is for the unmodified tree, so that one does not spoil the next


def open_store(state: str) -> Store:
    """The record in the folder `state`."""
    return SqliteStore(state)


class Desk:
    """An opened repository: what a run is given, made when first asked for and closed together.

    Opening finishes what an earlier crash left half done; `recovered` says what that was.
    """

    def __init__(self, path: str, config: Config) -> None:
        self.clock = SystemClock()
        self._workspace = GitWorkspace(path, extra=config.include, owner=sandbox_owner())
        inside = os.path.relpath(os.path.realpath(path), self._workspace.root)
        self._opened_in = "" if inside == "." else inside
        self.config = _protecting_tests(config, self._workspace.root)
        self.state = os.path.join(self._workspace.root, STATE)
        self.recovered = self._workspace.recover()
        self.store = open_store(self.state)
        self._shelf: Shelf | None = None
        self._sandbox: Sandbox | None = None
        self._warm: dict[str, Warm] = {}
        self._jobs: ThreadJobs | None = None
        self._models: dict[str, Model] = {}
        self._surroundings: Surroundings | None = None
        self._opening = threading.RLock()  # branches ask from their own threads

    @property
    def workspace(self) -> Workspace:
        """The user's repository."""
        return self._workspace

    @property
    def signatures(self) -> Keyring:
        """The keys that count: the local one and those of the allowed signers, both beside the user's own file."""
        return Keyring(os.path.dirname(user_path()), self.config.signing.allowed_signers)

    def outside(self, tool: str) -> OutsideTool:
        """The outside tool of that name, if the settings have it."""
        return registry(self.config.outside.tools, secret)(tool)

    @property
    def shelf(self) -> Shelf:
        """What earlier runs found out about trees."""
        with self._opening:
            if self._shelf is None:
                self._shelf = FileShelf(os.path.join(self.state, "facts"), self.clock, edition())
            return self._shelf

    @property
    def sandbox(self) -> Sandbox:
        """The strongest sandbox this machine allows. Raises `WorldFault` when it is weaker than asked for."""
        with self._opening:
            if self._sandbox is None:
                wanted = self.config.sandbox.backend
                self._sandbox = open_sandbox(
                    allow_degraded=self.config.isolation is IsolationMode.DEGRADED,
                    cache_dir=os.path.join(self.state, "cache"),
                    only="" if wanted == "auto" else wanted,
                    outside=Outside(secret=secret),
                )
            return self._sandbox

    def weakness(self) -> str:
        """What a person must be told before anything runs: that it will not be isolated fully. Else empty."""
        if self.config.isolation is not IsolationMode.DEGRADED:
            return ""
        isolation = self.sandbox.isolation
        if isolation.level is Level.FULL:
            return ""
        how = "isolates only in part" if isolation.level is Level.PARTIAL else "isolates nothing"
        return (
            f"commands run in the sandbox {isolation.backend!r}, which {how} (--allow-degraded); see `referee doctor`"
        )

    def turn(self, what: str, wait: Callable[[str], None] | None) -> AbstractContextManager[None]:
        """The right to work here while doing `what`. Raises `UsageError` naming who has it; `wait` is told instead."""
        return turn(os.path.join(self.state, "turn.lock"), what, wait)

    def model(self, name: str) -> Model:
        """The model of that name, recorded if the settings say so."""
        with self._opening:
            if name not in self._models:
                model = open_model(name, self.config)
                self._models[name] = RecordingModel(model, self.config.record) if self.config.record else model
            return self._models[name]

    @property
    def jobs(self) -> Jobs:
        """The background jobs of this process."""
        with self._opening:
            if self._jobs is None:
                self._jobs = ThreadJobs(lambda: self.sandbox)
            return self._jobs

    def warm(self, command: Command) -> Warm:
        """The warm process for `command`, started on first use."""
        key = command.model_dump_json()
        with self._opening:
            if key not in self._warm:
                self._warm[key] = self.sandbox.warm(command)
            return self._warm[key]

    def stamp(self) -> IsolationStamp | None:
        """Which sandbox was used, if any was."""
        if self._sandbox is None:
            return None
        isolation = self._sandbox.isolation
        return IsolationStamp(backend=isolation.backend, level=isolation.level.value)

    def command(self, argv: tuple[str, ...], base: Base, limits: Limits) -> Command:
        """A command as a person runs one in the project: its Python and its other tools are found first."""
        python, others = self.interpreter(self.home(base.tree)), self.toolchains(base.tree)
        return Command(
            argv=argv,
            base=base,
            cwd=self.workspace.root,  # wherever it was opened: paths that a command is given count from there
            env={**variables(others), "PATH": search_path(python.prefix, others)},
            mounts=(*python.mounts, *(m for t in others for m in t.mounts)),
            limits=limits,
        )

    @property
    def surroundings(self) -> Surroundings:
        """What the repository and the person bring along: memories, hooks, servers of tools."""
        with self._opening:
            if self._surroundings is None:
                self._surroundings = LocalSurroundings(
                    Locations(
                        root=self.workspace.root,
                        state=self.state,
                        own=os.path.dirname(user_path()),
                        sandbox=lambda: self.sandbox,
                        command=self.command,
                        listed=self.config.sandbox.destinations,
                        secret=secret,
                    )
                )
            return self._surroundings

    @property
    def reports(self) -> str:
        """Where reports are written."""
        return os.path.join(self.state, "reports")

    def home(self, tree: str, targets: Sequence[str] = ()) -> str:
        """The folder of the project that `targets` are in, else of the one that the desk was opened in."""
        meant = targets or ([self._opened_in] if self._opened_in else [])
        return home(self.workspace.paths(tree), self.config.guards.guarded, meant)

    def interpreter(self, home: str = "") -> Interpreter:
        """The Python the project in `home` is tested with. Raises `UsageError` if none can be used."""
        config = self.config
        return find_python(
            os.path.join(self.workspace.root, home),
            root=self.workspace.root,
            own=OWN,
            explicit=config.python or None,
            virtual_env=config.virtual_env or None,
        )

    def project(self, tree: str, targets: Sequence[str] = ()) -> Project:
        """The project that is meant as the judge sees it, from the unpatched tree."""
        meant = self.home(tree, targets)
        project = detect(
            self.workspace.root,
            self.workspace.paths(tree),
            lambda path: self.workspace.read(tree, path),
            interpreter=self.interpreter(meant),
            own=find_python(self.workspace.root, own=OWN, explicit=OWN),
            scope=Scope(protection=self.config.guards, home=meant),
        )
        return project.with_toolchains(self.toolchains(tree))

    def toolchains(self, tree: str) -> tuple[Toolchain, ...]:
        """What the tree's other languages need inside."""
        return find_toolchains(self.workspace.root, self.workspace.paths(tree))

    def settings(self) -> Settings:
        """What the user decided about the judge."""
        config = self.config
        return Settings(
            checks=tuple(CheckSpec(**c.model_dump()) for c in config.checks),
            skip=config.skip,
            flaky=config.flaky,
            source=config.source,
            ignore=tuple(Ignore(**i.model_dump()) for i in config.ignore),
            egress=config.sandbox.destinations,
            connected=config.sandbox.checks,
            parts=config.parts,
            **config.judge.model_dump(),
        )

    def prepare(self, run: Run, base: Base, targets: Sequence[str]) -> Bench:
        """The judge, checked on the unmodified tree."""
        # Opened here and not by a thread of the judge's: whoever stops the run need not wait for the probes.
        if not run.recorded_only:
            _ = self.sandbox
        targets = self._placed(base.tree, targets)
        return prepare(run, self.project(base.tree, targets), base, targets, self.settings())

    def standing(self, run: Run, base: Base) -> Bench | None:
        """The judge of a change that mends nothing in particular; None if nothing can judge."""
        _ = self.sandbox
        return standing(run, self.project(base.tree), base, self.settings())

    def judged_again(self, run: Run, base: Base) -> Bench:
        """The same for what lands on files that have changed meanwhile. Raises `Exhausted` if nothing can judge."""
        bench = self.standing(run, base)
        if bench is None:
            raise Exhausted(StopReason.JUDGE_UNRELIABLE, "nothing can judge it")
        return bench

    def _placed(self, tree: str, targets: Sequence[str]) -> tuple[str, ...]:
        """Targets as seen from the root, also where they were named from the folder that the desk was opened in."""
        paths = frozenset(self.workspace.paths(tree))
        here = [f"{self._opened_in}/{t.removeprefix('./')}" for t in targets]
        at_root = [_file(t.removeprefix("./")) in paths for t in targets]
        moved = zip(targets, here, at_root, strict=True)
        return tuple(h if not top and _file(h) in paths else t for t, h, top in moved)

    def kept(self, run_id: str) -> bool:
        """Whether what a rollback or a resume of this run needs is still there."""
        return self._workspace.kept(run_id)

    def drop_snapshots(self, days: float, keep: Mapping[str, Collection[str]]) -> tuple[str, ...]:
        """Forget what is needed only to undo runs older than `days`; `keep` are runs to spare, with their trees."""
        return self._workspace.collect(days, keep)

    def close(self) -> None:
        """End the warm processes, the servers and the sandbox, then the store and the workspace."""
        if self._jobs is not None:
            self._jobs.close()
        for warm in self._warm.values():
            warm.close()
        if self._surroundings is not None:
            self._surroundings.close()
        if self._sandbox is not None:
            self._sandbox.close()
        self.store.close()
        self._workspace.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _file(target: str) -> str:
    """The file that a test's id begins with."""
    return target.partition("::")[0].partition(" > ")[0]


def _protecting_tests(config: Config, root: str) -> Config:
    """The settings, with what this project's pytest takes for a test among the protected files."""

    def read(name: str) -> bytes | None:
        path = os.path.join(root, name)
        if os.path.islink(path) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read(1 << 20)

    patterns = (p for p in test_patterns(read) if p not in (*TESTS, *config.protected))
    return config.model_copy(update={"protected": (*config.protected, *patterns)})


def open_model(name: str, config: Config) -> Model:
    """A model by `provider:name`, `scripted:FILE`, `recorded:FILE` or `adversary:FILE` (a simulation)."""
    provider, _, rest = name.partition(":")
    if provider == "scripted":
        return ScriptedModel(rest)
    if provider == "recorded":
        return RecordedModel(rest)
    if name.startswith(ADVERSARY):
        from referee.evals.adversary import AdversaryModel, read_plan  # only experiments play with it

        plan = read_plan(rest)
        return AdversaryModel(plan, open_model(plan.inner, config) if plan.inner else None)
    models = config.models
    price = stated(",".join(str(p) for p in models.price)) if models.price else None
    key = secret(models.api_key_env) if models.api_key_env else None
    sealed = SecretStr(key) if key else None
    return ProviderModel(name, Endpoint(base_url=models.base_url or None, api_key=sealed, price=price))


def able(config: Config, root: str) -> None:
    """Raise `UsageError`, before anything is run, if who is to play cannot: no model, or no such program."""
    kind = config.generator
    if kind in ("model", "agent") and not config.models.default:
        raise UsageError("no model is configured; name one with --model PROVIDER:NAME, or use --generator search")
    if kind.startswith("command:"):
        program(agent(kind.removeprefix("command:"), config.sandbox.destinations).argv[0], root)


def players(bench: Bench, config: Config) -> Sequence[Player]:
    """Who plays, in order (E4).

    `auto` is the linter's own fixes where only a linter objects, the search, bounded, and then the model if one is
    configured.
    """
    kind, model = config.generator, config.models.default
    if kind.startswith("command:"):
        return [_external(bench, config)]
    if kind == "agent":
        return [_agent(bench, config)]
    if config.preset in (PresetName.SCAFFOLD, PresetName.TESTS):
        if kind == "search" or not model:
            raise UsageError("the search makes no new files; name a model with --model PROVIDER:NAME, or an agent")
        return [_model(bench, config)]
    chosen = [_mechanical(bench, config)] if kind == "auto" and mendable(blocking(bench.failures)) else []
    python = bool(bench.targets) or not bench.aims
    if not python and kind in ("auto", "search") and not (kind == "auto" and model) and not chosen:
        raise UsageError("the search repairs Python only; name a model with --model PROVIDER:NAME")
    if kind in ("auto", "search") and python:
        bound = SEARCH_STEPS_BEFORE_MODEL if kind == "auto" and model else None
        search = SearchAuthor(
            bench, protection=config.protection, seed=config.seed, max_batches=bound, blind=not config.parts.judge
        )
        chosen.append(Player(kind="search", generator=search, fixer=search, incremental=False))
    if kind in ("auto", "model") and model:
        chosen.append(_model(bench, config))
    return chosen


def _model(bench: Bench, config: Config) -> Player:
    """A model as generator and fixer, as often as there are to be candidates."""
    models, many = config.models, config.candidates
    suspects = traced(bench) if bench.targets or not bench.aims else nowhere

    def pair(n: int) -> tuple[ModelAuthor, ModelAuthor]:
        lane, cheap = (n, many), models.cheap or None
        generator = Voice(model=models.default, role="generator", pressed=cheap, lane=lane)
        fixer = Voice(model=models.fixer or models.default, role="fixer", pressed=cheap, lane=lane)
        return ModelAuthor(generator, suspects), ModelAuthor(fixer, suspects)

    first, *others = (pair(n) for n in range(1, many + 1))
    tidy = MechanicalAuthor(bench, config.protection, last=False)
    return Player(
        kind="model", generator=first[0], fixer=first[1], others=tuple(others), ready=suspects, mechanic=tidy,
        incremental=not models.default.startswith(ADVERSARY),
    )  # fmt: skip


def _agent(bench: Bench, config: Config) -> Player:
    """A model with tools; the judge is ready already."""
    place = Place(
        protection=config.protection,
        equip=lambda run: shell(run, bench.project, bench.base),
        examine=examiner(lambda: bench),
    )
    many = config.candidates
    first, *others = (ToolAuthor(_voice(config, (n, many)), place) for n in range(1, many + 1))
    tidy = MechanicalAuthor(bench, config.protection, last=False)
    return Player(kind="agent", generator=first, fixer=first, others=tuple((a, a) for a in others), mechanic=tidy)


def _voice(config: Config, lane: tuple[int, int] = (1, 1)) -> Voice:
    models = config.models
    return Voice(model=models.default, role="agent", pressed=models.cheap or None, lane=lane)


def shell(run: Run, project: Project, base: Base) -> Shell:
    """What an agent's commands run in."""
    return Shell(base=base, interpreter=project.interpreter.executable, mounts=project.mounts, env=project.env)


def errand(desk: Desk, plan: Plan, workflow: Workflow | None = None) -> Errand:
    """An agent with its room; sandbox and judge are made ready when a call first needs them.

    Raises `UsageError` if no model is configured.
    """
    config, task = desk.config, plan.task
    if not config.models.default:
        raise UsageError("no model is configured; name one with --model PROVIDER:NAME")
    judge = LateJudge(plan.prepare if task.targets else desk.standing)
    if not task.targets:
        plan = replace(plan, prepare=desk.judged_again)

    def opened(run: Run) -> Shell:
        tree = judge.tree
        base = run.perform(PrepareBase(tree=tree, protection=plan.protection))
        return shell(run, desk.project(tree, task.targets), base)

    place = Place(
        protection=plan.protection,
        equip=opened,
        judge=lambda run: judge.ready(),
        examine=examiner(lambda: judge.bench),
    )
    later = config.ask_before_landing is not Before.NEVER
    author = WorkflowAuthor(_voice(config), place, workflow) if workflow else ToolAuthor(_voice(config), place)
    return Errand(plan=plan, author=author, judge=judge, asked_later=later)


def _mechanical(bench: Bench, config: Config) -> Player:
    author = MechanicalAuthor(bench, config.protection, last=True)
    return Player(kind="mechanical", generator=author, fixer=author)


def _external(bench: Bench, config: Config) -> Player:
    """An agent of the user's, shown to the sandbox with what it needs to start (E4)."""
    named = agent(config.generator.removeprefix("command:"), config.sandbox.destinations)
    path, shown = program(named.argv[0], bench.project.root)
    search = ":".join((bench.project.env["PATH"], *shown.path))
    found = named.model_copy(update={"argv": (path, *named.argv[1:]), "env": {**named.env, "PATH": search}})
    first, *others = (CommandAuthor(bench, found, config.protection, shown.mounts) for _ in range(config.candidates))
    tidy = MechanicalAuthor(bench, config.protection, last=False)
    return Player(kind="command", generator=first, fixer=first, others=tuple((a, a) for a in others), mechanic=tidy)


def evaluator(config: Config) -> Evaluator | None:
    """The model that may object to what passed, if one is named (E3)."""
    models = config.models
    if not models.evaluator:
        return None
    return Evaluator(Voice(model=models.evaluator, role="evaluator", pressed=models.cheap or None))
