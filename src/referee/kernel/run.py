"""The one gate. Everything a run does to the world goes through `Run.perform`."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter

from referee.domain.canonical import digest_of
from referee.domain.cost import Budget, BudgetView, Cost
from referee.domain.errors import (
    Cancelled,
    Diverged,
    Exhausted,
    Rejected,
    Suspended,
    Unrecorded,
    UsageError,
    Withdrawn,
    WorldFault,
)
from referee.domain.finding import Finding
from referee.domain.question import Question
from referee.domain.reason import StopReason
from referee.domain.value import Value
from referee.kernel.action import Action, Effect
from referee.kernel.bounded import Bounded, Timer
from referee.kernel.journal import Ending, Journal, same_request
from referee.kernel.ledger import Ledger
from referee.kernel.policy import Ask, Deny, Policy, denied, rule
from referee.kernel.questions import Questions, facts_of
from referee.kernel.trees import Trees
from referee.ports import (
    Equipment,
    Kind,
    Progress,
    Store,
)

T = TypeVar("T")
_adapter = functools.cache(TypeAdapter)  # costly to make, and asked for at every action
_FINDINGS = TypeAdapter(tuple[Finding, ...])
SHORT_SECONDS = 0.5  # work that power loss may cost


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What a run and all its branches have in common."""

    run_id: str
    world: Equipment
    journal: Journal
    store: Store
    policies: tuple[Policy, ...] = ()
    recorded_only: bool = False  # a replay: nothing is done, and what is recorded is compared
    tell: Progress | None = None
    stop: threading.Event | None = None  # set from outside: nothing more is begun


class Run(Trees):
    """One run, or a branch of one. Not safe to share between threads: give each thread a branch."""

    def __init__(self, shared: Shared, budget: Budget) -> None:
        super().__init__(shared.world)
        self._shared, self._prefix, self._journal = shared, "", shared.journal
        self._bounded = Bounded(shared.world, lambda: self._ledger.seconds_left(self._timer.live()))
        self._questions = Questions(shared.run_id, shared.store, shared.journal, shared.world.signatures)
        self._ledger = Ledger(budget)
        self._timer = Timer(shared.world.clock, shared.journal.elapsed)
        self._ordinal = 0
        self._branches: set[str] = set()
        self._ending, self._over, self._open = threading.RLock(), False, Cost()

    def branch(self, name: str, budget: Budget | None = None) -> Run:
        """A run within this one: own keys and, if given, an own smaller budget; its spending counts here too."""
        if f"{self._prefix}{name}" in self._branches:
            raise ValueError(f"this run has a branch {name!r} already; its entries would be taken for the new one's")
        self._branches.add(f"{self._prefix}{name}")
        child = Run(self._shared, budget or self._ledger.budget)
        child._prefix = f"{self._prefix}{name}/"
        child._ledger = Ledger(budget or self._ledger.budget, parent=self._ledger)
        child._timer = self._timer
        return child

    def withdraw(self) -> None:
        """Let this branch begin nothing more: from now on only what is recorded is recalled.

        What another thread is at right now is not waited for. It counts as lost, so a call is charged its estimate,
        now and again in every replay; nothing more of it is recorded.
        """
        with self._ending:
            self._over = True
            self._ledger.charge(self._open)

    @property
    def id(self) -> str:
        """The run's id."""
        return self._shared.run_id

    # --- the gate ------------------------------------------------------------------------------------------

    def perform(self, action: Action[T]) -> T:
        """Recall the action's result if the journal has it; otherwise record, rule, admit, do, end and charge.

        Raises `Rejected` (the author must act), `Exhausted` (the budget ends the run), `WorldFault`, or `Suspended`
        (a person must act).
        """
        self._ordinal += 1
        digest = action.digest
        first = f"{self._prefix}{self._ordinal}:{action.name}"
        key, ending = self._recall(first, action, digest)
        if ending is not None:
            return self._replay(action, ending)
        self._still()
        if self.recorded_only:
            raise Unrecorded(first)
        self._unless_stopped()
        ruling = rule(self._shared.policies, action)
        ask = ruling if isinstance(ruling, Ask) else None
        self._journal.request(key, action.name, _asked(action, digest, ask), action.effect)
        started: float | None = None
        held = Cost()
        try:
            denied(ruling)
            consent = None if ask is None else self._questions.settle(first, ask, (action.name, digest), self.note)
            wanted = action.estimate(self._bounded)
            self._ledger.hold(wanted, self._timer.live())
            held = wanted
            with self._ending:
                self._still()
                self._open = held if action.effect is Effect.SPEND else Cost()
            started = self._timer.live()
            with contextlib.nullcontext() if action.instant else self._journal.kept():
                result = action.perform(Bounded(self._world, self._bounded.seconds_left, consent))
        except Suspended:
            self._end(key, action, "waiting", "", Cost())
            raise
        except Rejected as refused:
            text, findings = self._discreet(_FINDINGS, refused.findings)
            self._end(key, action, "rejected", text, Cost())
            raise Rejected(findings) from refused
        except Exhausted as spent:
            self._end(key, action, "exhausted", _said(spent), self._tool_time(action, started))
            raise
        except UsageError as wrong:
            self._end(key, action, "fault", str(wrong), Cost())
            raise
        except WorldFault as fault:
            # A call that failed on the way back may have been billed.
            billed = started is not None and action.effect is Effect.SPEND
            self._end(key, action, "fault", str(fault), held if billed else Cost())
            raise
        else:
            text, kept = self._discreet(_form(action), result)
            self._end(key, action, "done", text, action.cost(result) + self._tool_time(action, started))
            return kept
        finally:
            self._ledger.release(held)
            self._open = Cost()

    def within(self, action: Action[T], work: Callable[[], T]) -> T:
        """An action whose doing is a series of others, which `work` performs: they are recorded inside it.

        Cut off, it goes on where it was, since each of its parts is recalled; ended, it is recalled as a whole.
        """
        self._ordinal += 1
        key, digest = f"{self._prefix}{self._ordinal}:{action.name}", action.digest
        entry = self._journal.requested(key)
        ending = self._journal.ending(key)
        if entry is not None:
            same_request(entry, action.name, digest)
        if ending is not None:
            return self._replay(action, ending)
        self._still()
        if entry is None and self.recorded_only:
            raise Unrecorded(key)
        ruling = rule(self._shared.policies, action)
        ask = ruling if isinstance(ruling, Ask) else None
        if ask is not None and self.recorded_only and not self._questions.answered(key):
            raise Unrecorded(key)
        if entry is None:
            self._journal.request(key, action.name, _asked(action, digest, ask), action.effect)
        outer, before = (self._prefix, self._ordinal), self._ledger.spent
        try:
            denied(ruling)
            if ask is not None and not self.recorded_only:
                self._questions.settle(key, ask, (action.name, digest), self.note)
            self._prefix, self._ordinal = f"{key}/", 0
            result = work()
        except Rejected as refused:
            text, findings = self._discreet(_FINDINGS, refused.findings)
            self._end_within(key, action, "rejected", text, before)
            raise Rejected(findings) from refused
        finally:
            self._prefix, self._ordinal = outer
        text, kept = self._discreet(_form(action), result)
        self._end_within(key, action, "done", text, before)
        return kept

    def _discreet(self, form: TypeAdapter[T], result: T) -> tuple[str, T]:
        """A result as it is recorded, and just as a replay will read it: what is hidden is hidden at once."""
        text = form.dump_json(result).decode()
        clean = self._journal.discreet(text)
        return clean, result if clean == text else form.validate_json(clean)

    def post(self, action: Action[Any]) -> tuple[str, Question]:
        """Put the question of `action` to a person without waiting: the key by which it is `heard`, and the question.

        Raises `Rejected` if no policy asks about the action: then there is nobody to answer.
        """
        self._ordinal += 1
        key = f"{self._prefix}{self._ordinal}:{action.name}"
        ruling = rule(self._shared.policies, action)
        denied(ruling)
        if not isinstance(ruling, Ask):
            action.perform(self._bounded)  # which refuses: nobody has consented
            raise AssertionError(f"{action.name} was done without anybody being asked")
        if self.recorded_only and not self._journal.found(f"{key}?1", Kind.ASKED):
            raise Unrecorded(key)
        return f"{key}?1", self._questions.post(key, ruling, (action.name, action.digest))

    def heard(self, asked: str, before: str) -> str | None:
        """The answer to what was posted, once: where it came in, and in a replay at the same place.

        Nothing new is looked for where the action named `before`, which comes next, is recorded already.
        """
        begun = self._journal.requested(f"{self._prefix}{self._ordinal + 1}:{before}") is not None
        return self._questions.heard(asked, self.here, not (begun or self.recorded_only), self.note)

    def _end_within(self, key: str, action: Action[Any], outcome: str, text: str, before: Cost) -> None:
        """End it: its cost is that of its parts, which are charged already."""
        with self._ending:
            self._still()
            elapsed = round(self._timer.live(), 4)
            cost = self._ledger.spent - before
            ending = Ending(outcome=outcome, result=text, cost=cost, elapsed=elapsed)
            self._journal.end(key, action.name, ending, durable=action.durable)
            self._timer.settle(elapsed)

    def decided(self, decision: Value, on: Value) -> None:
        """Enter a decision of the flow, drawn from `on`, into the journal.

        Raises `Diverged` if the journal has another one in its place: what decides must be pure.
        """
        facts = {"decision": type(decision).__name__.lower(), "detail": decision.model_dump(mode="json")}
        key = f"{self._prefix}{self._ordinal}:decision:{digest_of(on.model_dump(mode='json'))[:12]}"
        facts = json.loads(self._journal.discreet(json.dumps(facts)))
        recorded = self._journal.found(key, Kind.DECIDED)
        if recorded is not None and json.loads(recorded.payload) != facts:
            raise Diverged(f"replay decided {facts} where the journal has {recorded.payload}")
        if recorded is None and self.recorded_only and self._journal.has(Kind.DECIDED):
            raise Diverged(f"replay decided {facts}, and the journal has no such decision")
        if recorded is None:
            self._journal.note(key, Kind.DECIDED, facts, durable=False)
        self.progress("decision", facts)

    @property
    def recorded_only(self) -> bool:
        """Whether this is a replay, which does nothing that is not recorded."""
        return self._shared.recorded_only

    def recalls(self, action: Action[Any]) -> bool:
        """Whether the journal has the end of `action`, if that were performed next."""
        key, tries = f"{self._prefix}{self._ordinal + 1}:{action.name}", 1
        while self._journal.requested(_nth(key, tries)) is not None:
            ending = self._journal.ending(_nth(key, tries))
            if ending is not None and ending.final:
                return True
            tries += 1
        return False

    def _still(self) -> None:
        if self._over:
            raise Withdrawn("another branch was faster")

    def _unless_stopped(self) -> None:
        if self._shared.stop is not None and self._shared.stop.is_set():
            raise Cancelled("stopped by a person")

    def _tool_time(self, action: Action[Any], started: float | None) -> Cost:
        if started is None or action.effect is not Effect.SCRATCH:
            return Cost()
        return Cost(tool_seconds=round(self._timer.live() - started, 4))

    def _recall(self, key: str, action: Action[T], digest: str) -> tuple[str, Ending | None]:
        """The key to use and, if an earlier try is final, how it ended."""
        tries = 1
        while (entry := self._journal.requested(_nth(key, tries))) is not None:
            same_request(entry, action.name, digest)
            current = _nth(key, tries)
            ending = self._journal.ending(current)
            if ending is None and self.recorded_only and not self._over:
                raise Unrecorded(current)
            ending = ending or self._cut_off((key, current), action)
            if ending.final and not self._stale(action, ending):
                return current, ending
            self._ledger.charge(ending.cost)
            tries += 1
            if self.recorded_only and self._journal.requested(_nth(key, tries)) is None:
                self._spent_then(ending)
        return _nth(key, tries), None

    def _spent_then(self, ending: Ending) -> None:
        """Raise `Exhausted` where the budget ended the last try there is; it is charged already."""
        if ending.outcome == "exhausted" and (text := self._journal.result(ending)):
            self._timer.settle(ending.elapsed)
            said = json.loads(text)
            raise Exhausted(StopReason(said["reason"]), said["detail"])

    def _cut_off(self, keys: tuple[str, str], action: Action[T]) -> Ending:
        """End a request that a crash cut off: what waited for a person had not begun."""
        first, key = keys
        entry = self._journal.requested(key)
        if entry is None or "asks" not in json.loads(entry.payload) or self._questions.answered(first):
            return self._lost(key, action)
        ending = Ending(outcome="waiting", elapsed=round(self._timer.live(), 4))
        self._journal.end(key, action.name, ending, durable=action.durable)
        return ending

    def _lost(self, key: str, action: Action[T]) -> Ending:
        """End a request that a crash cut off: with its result if it took effect, else charged as if it had."""
        recovered = action.recover(self._bounded) if action.effect in (Effect.LAND, Effect.OUTSIDE) else None
        elapsed = round(self._timer.live(), 4)
        if recovered is not None:
            text, _ = self._discreet(_form(action), recovered)
            ending = Ending(outcome="done", result=text, cost=action.cost(recovered), elapsed=elapsed)
        else:
            paid = action.estimate(self._bounded) if action.effect is Effect.SPEND else Cost()
            ending = Ending(outcome="lost", cost=paid, elapsed=elapsed)
        self._journal.end(key, action.name, ending, durable=action.durable)
        return ending

    def _stale(self, action: Action[T], ending: Ending) -> bool:
        if ending.outcome != "done":
            return False
        result = _adapter(action.result_type).validate_json(self._journal.result(ending))
        return action.stale(result, self._ledger.view(ending.elapsed))

    def _replay(self, action: Action[T], ending: Ending) -> T:
        self._ledger.charge(ending.cost)
        self._timer.settle(ending.elapsed)
        text = self._journal.result(ending)
        if ending.outcome == "rejected":
            raise Rejected(_FINDINGS.validate_json(text))
        if self.recorded_only and isinstance(rule(self._shared.policies, action), Deny):
            raise Diverged(f"{action.name} was done, and the same rules refuse it now")
        if action.volatile and not self.recorded_only:
            return self._discreet(_form(action), action.perform(self._bounded))[1]
        return _form(action).validate_json(text)

    def _end(self, key: str, action: Action[Any], outcome: str, text: str, cost: Cost) -> None:
        with self._ending:
            self._still()  # whoever was withdrawn meanwhile is accounted for already
            elapsed = round(self._timer.live(), 4)
            ending = Ending(outcome=outcome, result=text, cost=cost, elapsed=elapsed)
            self._journal.end(key, action.name, ending, durable=_lasting(action, ending))
            self._ledger.charge(cost)
            self._timer.settle(elapsed)
            self._open = Cost()

    def stopped(self, fence: int) -> None:
        """Record that a person stopped it now: the time of the action that this cut off is spent."""
        self._journal.note(f"stopped:{fence}", Kind.NOTED, {"text": "stopped by a person"})

    def close(self) -> None:
        """The run has come to its end: nothing more is recorded, whatever a thread left behind still does."""
        self._journal.close()

    @property
    def here(self) -> str:
        """Where in the run this is: the same in every replay, and at no other place."""
        return f"{self._prefix}{self._ordinal}"

    # --- what needs no gate --------------------------------------------------------------------------------

    @property
    def view(self) -> BudgetView:
        """The budget and what was spent up to the last recorded ending."""
        return self._ledger.view(self._timer.settled)

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Keep a blob with the record; the SHA-256 of what is kept.

        What a replay works out and puts again need not be `durable`.
        """
        return self._shared.store.put(data, durable=durable)

    def get(self, digest: str) -> bytes:
        """A kept blob."""
        return self._shared.store.get(digest)

    def note(self, text: str, **facts: Any) -> None:
        """Be loud: record something a person should know, and show it."""
        # Not numbered: a resumed run may have something to say before what it says again.
        said = digest_of({"text": text, **facts})[:16]
        self._journal.note(f"{self._prefix}note:{said}", Kind.NOTED, {"text": text, **facts})
        self.progress("note", {"text": text, **facts})

    def enter(self, key: str, facts: Mapping[str, Any]) -> None:
        """Enter into the record what was decided here, once per key; a replay that decides it again adds nothing.

        It waits for no disk: power that takes it takes nothing that a replay would not enter again.
        """
        self._journal.note(f"{self._prefix}{key}", Kind.NOTED, dict(facts), durable=False)

    def progress(self, event: str, facts: Mapping[str, Any]) -> None:
        """Show what happens now; display only, never recorded."""
        if self._shared.tell is not None:
            live = self._ledger.view(round(self._timer.live(), 3))
            self._shared.tell(event, {**facts, "spent": live.spent, "budget": live.budget})


def _form(action: Action[T]) -> TypeAdapter[T]:
    """How the results of an action are written and read."""
    form: TypeAdapter[T] = _adapter(action.result_type)
    return form


def _nth(key: str, tries: int) -> str:
    return key if tries == 1 else f"{key}#{tries}"


def _lasting(action: Action[Any], ending: Ending) -> bool:
    """Whether an ending waits for the disk. What is done again sooner than a disk might take is not worth the wait."""
    brief = ending.outcome == "done" and not action.effect.irrevocable
    return action.durable and not (brief and ending.cost.tool_seconds < SHORT_SECONDS)


def _said(spent: Exhausted) -> str:
    """What the journal says of an end that the budget made."""
    return json.dumps({"reason": spent.reason.value, "detail": str(spent)})


def _asked(action: Action[Any], digest: str, ask: Ask | None) -> dict[str, Any]:
    """What the journal says of a request."""
    return {**action.facts, "action_digest": digest, **facts_of(ask)}
