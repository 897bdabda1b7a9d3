"""A repository at hand: its sandbox, its store, its tools and its judge, made when first asked for."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from referee.adapters.clock import SystemClock
from referee.adapters.git import GitWorkspace
from referee.adapters.jobs import ThreadJobs
from referee.adapters.models.recorded import RecordingModel
from referee.adapters.python import find as find_python
from referee.adapters.sandbox import DiscreetSandbox, Outside, open_sandbox, sandbox_owner
from referee.adapters.signing import Keyring
from referee.adapters.store import FileShelf, SqliteStore
from referee.adapters.store.turn import turn
from referee.adapters.surroundings import LocalSurroundings, Locations
from referee.adapters.toolchains import find as find_toolchains
from referee.config import DATABASE, Config, IsolationMode, environment, secret, secrets_of, user_path
from referee.domain.errors import Exhausted
from referee.domain.protection import TESTS, literal
from referee.domain.reason import StopReason
from referee.domain.redaction import Redaction
from referee.domain.report import IsolationStamp
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
from referee.wiring.models import open_model

STATE = ".harness"
OWN = sys.prefix  # referee's own environment: it has pytest, and ruff and mypy when they are installed beside it


def open_store(state: str, redaction: Redaction) -> Store:
    """The record in the folder `state`, or in the database that the environment names; `redaction` hides what must
    not be kept.

    Raises `UsageError` if that has no tables for it.
    """
    address = secret(DATABASE)
    if address is None:
        return SqliteStore(state, redaction)
    from referee.adapters.store.postgres import PostgresStore  # a driver that few need

    return PostgresStore(address, os.path.dirname(state), redaction)


def difference(root: str, config: Config, before: str, after: str) -> bytes:
    """What differs between two trees of a repository's private store. Raises `WorldFault` if one is gone."""
    workspace = GitWorkspace(root, extra=config.include, owner=sandbox_owner())
    try:
        return workspace.diff(before, after)
    finally:
        workspace.close()


class Desk:
    """An opened repository: what a run is given, made when first asked for and closed together.

    Opening finishes what an earlier crash left half done; `recovered` says what that was.
    """

    def __init__(self, path: str, config: Config) -> None:
        self.clock = SystemClock()
        self.redaction = Redaction(secrets_of(environment(), _named(config)))
        self._workspace = GitWorkspace(path, extra=config.include, owner=sandbox_owner())
        inside = os.path.relpath(os.path.realpath(path), self._workspace.root)
        self._opened_in = "" if inside == "." else inside
        self.config = _protecting_tests(config, self._workspace.root)
        self.state = os.path.join(self._workspace.root, STATE)
        self._surroundings = self._around()
        self.config = _protecting(self.config, map(literal, self._surroundings.pinned()))
        self.recovered = self._workspace.recover()
        self.store = open_store(self.state, self.redaction)
        self._shelf: Shelf | None = None
        self._sandbox: Sandbox | None = None
        self._warm: dict[str, Warm] = {}
        self._jobs: ThreadJobs | None = None
        self._models: dict[str, Model] = {}
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
        from referee.adapters.outside import registry  # with the protocols: few runs reach out

        return registry(self.config.outside.tools, self.secret)(tool)

    def secret(self, name: str) -> str | None:
        """The value of a variable, which is hidden from all that is recorded from now on."""
        value = secret(name)
        if value is not None:
            self.redaction.learn(name, value)
        return value

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
                opened = open_sandbox(
                    allow_degraded=self.config.isolation is IsolationMode.DEGRADED,
                    cache_dir=os.path.join(self.state, "cache"),
                    only="" if wanted == "auto" else wanted,
                    outside=Outside(secret=self.secret),
                )
                self._sandbox = DiscreetSandbox(opened, self.redaction)
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
                model, file = open_model(name, self.config), self.config.record
                self._models[name] = RecordingModel(model, file, self.redaction) if file else model
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
        return self._surroundings

    def _around(self) -> LocalSurroundings:
        return LocalSurroundings(
            Locations(
                root=self.workspace.root,
                state=self.state,
                own=os.path.dirname(user_path()),
                paths=self._workspace.names,
                sandbox=lambda: self.sandbox,
                command=self.command,
                listed=self.config.sandbox.destinations,
                secret=self.secret,
            )
        )

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
        if not run.recorded_only:
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


def _named(config: Config) -> tuple[str, ...]:
    """The variables of which the settings say that they hold secrets."""
    return (config.models.api_key_env, *(i.value_env for i in config.sandbox.inject))


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

    return _protecting(config, test_patterns(read))


def _protecting(config: Config, patterns: Iterable[str]) -> Config:
    more = (p for p in patterns if p not in (*TESTS, *config.protected))
    return config.model_copy(update={"protected": (*config.protected, *more)})
