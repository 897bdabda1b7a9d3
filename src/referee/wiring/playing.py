"""From settings to those who play."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from referee.actions.tree import PrepareBase
from referee.adapters.toolchains import program
from referee.authors.asking import Voice
from referee.authors.tools import ToolAuthor, WorkflowAuthor, examiner
from referee.config import Before, Config
from referee.domain.errors import UsageError
from referee.domain.preset import PresetName
from referee.domain.verdict import blocking
from referee.domain.workflow import Workflow
from referee.flows.agent import Errand, LateJudge
from referee.flows.plan import Plan, Player
from referee.judge import Bench, Project
from referee.kernel.run import Run
from referee.ports import Base
from referee.tools import Place, Shell, every, known
from referee.wiring.desk import Desk
from referee.wiring.models import ADVERSARY

if TYPE_CHECKING:
    from referee.authors.evaluator import Evaluator

SEARCH_STEPS_BEFORE_MODEL = 4
_COMMAND = "--generator command:…"


def able(config: Config, root: str) -> None:
    """Raise `UsageError`, before anything is run, if who is to play cannot: no model, or no such program.

    Also if a rule is about a tool that there is none of: it would seem to guard something.
    """
    kind = config.generator
    for rule in config.rules:
        if not known(rule.tool):
            near = difflib.get_close_matches(rule.tool, (t.name for t in every()), n=1)
            hint = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(t.name for t in every())}"
            raise UsageError(f"the rule `{rule.words}` is about {rule.tool}, and there is no such tool; {hint}")
    if kind in ("model", "agent") and not config.models.default:
        free = ", or use --generator search" if kind == "model" else ""
        raise UsageError(f"no model is configured; name one with --model PROVIDER:NAME{free}")
    if kind.startswith("command:"):
        from referee.authors.command import agent

        program(agent(kind.removeprefix("command:"), config.sandbox.destinations).argv[0], root, _COMMAND)


def players(bench: Bench, config: Config) -> Sequence[Player]:
    """Who plays, in order (E4).

    `auto` is the linter's own fixes where only a linter objects, the search, bounded, and then the model if one is
    configured.
    """
    # Who does not play is not loaded.
    from referee.authors.mechanical import mendable

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
        from referee.authors.search import SearchAuthor

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
    from referee.authors.mechanical import MechanicalAuthor
    from referee.authors.model import ModelAuthor
    from referee.authors.suspects import nowhere, traced

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
    from referee.authors.mechanical import MechanicalAuthor

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
    from referee.authors.mechanical import MechanicalAuthor

    author = MechanicalAuthor(bench, config.protection, last=True)
    return Player(kind="mechanical", generator=author, fixer=author)


def _external(bench: Bench, config: Config) -> Player:
    """An agent of the user's, shown to the sandbox with what it needs to start (E4)."""
    from referee.authors.command import CommandAuthor, agent
    from referee.authors.mechanical import MechanicalAuthor

    named = agent(config.generator.removeprefix("command:"), config.sandbox.destinations)
    path, shown = program(named.argv[0], bench.project.root, _COMMAND)
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
    from referee.authors.evaluator import Evaluator

    return Evaluator(Voice(model=models.evaluator, role="evaluator", pressed=models.cheap or None))
