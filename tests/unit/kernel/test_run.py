"""The gate: recall, record, rule, admit, do, end, charge."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import ClassVar

import pytest

from referee.domain.cost import Budget, Cost
from referee.domain.errors import Diverged, Exhausted, Rejected, Unrecorded, UsageError, WorldFault
from referee.domain.finding import Finding
from referee.domain.reason import StopReason
from referee.kernel import lease
from referee.kernel.action import Action, Effect
from referee.kernel.journal import INLINE_BYTES, Ending, Journal, check_chain
from referee.kernel.policy import Deny
from referee.kernel.run import SHORT_SECONDS, Run, Shared
from referee.ports import Entry, Kind, Lease, World
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended


class Count(Action[int]):
    """Counts how often it was really done."""

    name: ClassVar[str] = "count"
    effect: ClassVar[Effect] = Effect.SPEND
    result_type: ClassVar[type] = int
    done: ClassVar[list[str]] = []

    label: str
    usd: Decimal = Decimal(0)
    seconds: float = 0.0
    fault: bool = False
    misuse: bool = False

    def estimate(self, world: World) -> Cost:
        return Cost(usd=self.usd, tokens=10)

    def cost(self, result: int) -> Cost:
        return Cost(usd=self.usd / 2, tokens=5)

    def perform(self, world: World) -> int:
        self.done.append(self.label)
        world.clock.sleep(self.seconds)
        if self.fault:
            raise WorldFault("the provider is down")
        if self.misuse:
            raise UsageError("the key is wrong")
        return len(self.done)


class LandOnce(Count):
    """An action on the user's files that can tell whether it took effect."""

    name: ClassVar[str] = "land_once"
    effect: ClassVar[Effect] = Effect.LAND

    def recover(self, world: World) -> int | None:
        return 77 if self.label in self.done else None


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Count.done.clear()


class Desk:
    """A store and clock that outlive runs, as a disk does."""

    def __init__(self) -> None:
        self.store, self.clock = MemoryStore(), FakeClock()
        self.store.create("r1", "{}", "now")
        self.world = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda c: ended(0)), clock=self.clock)

    def run(self, budget: Budget | None = None, *policies: object, **more: bool) -> Run:
        self.clock.advance(1_000)  # any earlier lease is over
        lease = self.store.claim("r1", "me", self.clock.now(), 30.0)
        journal = Journal(self.store, lease, self.clock)
        shared = Shared(run_id="r1", world=self.world, journal=journal, store=self.store, policies=policies, **more)  # type: ignore[arg-type]
        return Run(shared, budget or Budget())


def test_a_result_is_recalled_and_never_done_or_paid_again() -> None:
    desk = Desk()
    first = desk.run()
    assert first.perform(Count(label="a", usd=Decimal("0.10"))) == 1
    again = desk.run()
    assert again.perform(Count(label="a", usd=Decimal("0.10"))) == 1
    assert Count.done == ["a"]
    assert again.view.spent.usd == first.view.spent.usd == Decimal("0.05")
    assert again.view.spent.tokens == 5


def test_a_replay_that_asks_for_something_else_diverges() -> None:
    desk = Desk()
    desk.run().perform(Count(label="a"))
    with pytest.raises(Diverged, match="another path"):
        desk.run().perform(Count(label="b"))


def test_what_cannot_be_paid_at_worst_is_never_begun() -> None:
    desk = Desk()
    run = desk.run(Budget(max_cost_usd=Decimal("0.30")))
    run.perform(Count(label="a", usd=Decimal("0.30")))
    with pytest.raises(Exhausted) as caught:
        run.perform(Count(label="b", usd=Decimal("0.30")))
    assert caught.value.reason is StopReason.COST_TRIPPED
    assert Count.done == ["a"]


def test_a_replay_ends_where_the_budget_ended_the_last_try() -> None:
    desk, small = Desk(), Budget(max_tokens=10)
    for _ in range(2):
        run = desk.run(small)
        run.perform(Count(label="a"))
        with pytest.raises(Exhausted) as first:
            run.perform(Count(label="b"))
    replay = desk.run(small, recorded_only=True)
    replay.perform(Count(label="a"))
    with pytest.raises(Exhausted) as again:
        replay.perform(Count(label="b"))
    assert (again.value.reason, str(again.value)) == (StopReason.TOKEN_EXHAUSTED, str(first.value))
    assert replay.view.spent == run.view.spent


def test_an_end_of_the_budget_without_its_reason_is_the_end_of_the_record() -> None:
    desk = Desk()
    lease = desk.store.claim("r1", "me", desk.clock.now(), 30.0)
    journal = Journal(desk.store, lease, desk.clock)
    journal.request("1:count", "count", {"action_digest": Count(label="a").digest}, Effect.SPEND)
    journal.end("1:count", "count", Ending(outcome="exhausted"), durable=False)
    with pytest.raises(Unrecorded):
        desk.run(recorded_only=True).perform(Count(label="a"))


def test_a_refusal_is_tried_again_with_a_larger_budget_and_the_rest_is_free() -> None:
    """Case C9: replay first, then the gate."""
    desk = Desk()
    small, large = Budget(max_tokens=10), Budget(max_tokens=100)
    run = desk.run(small)
    run.perform(Count(label="a"))
    with pytest.raises(Exhausted):
        run.perform(Count(label="b"))
    resumed = desk.run(large)
    resumed.perform(Count(label="a"))
    resumed.perform(Count(label="b"))
    assert Count.done == ["a", "b"]
    assert resumed.view.spent.tokens == 10


def test_a_call_lost_in_a_crash_is_charged_its_estimate() -> None:
    desk = Desk()
    run = desk.run()
    action = Count(label="a", usd=Decimal("0.10"))
    run._journal.request(
        "1:count", "count", {"action_digest": action.digest}, action.effect
    )  # the crash came after the request
    resumed = desk.run()
    resumed.perform(action)
    assert resumed.view.spent.usd == Decimal("0.15")
    assert resumed.view.spent.tokens == 15


def test_a_landing_cut_off_after_it_took_effect_is_not_done_twice() -> None:
    desk = Desk()
    run = desk.run()
    action = LandOnce(label="x")
    run._journal.request("1:land_once", "land_once", {"action_digest": action.digest}, action.effect)
    LandOnce.done.append("x")
    assert desk.run().perform(action) == 77
    assert LandOnce.done == ["x"]


def test_a_denied_action_is_recorded_and_never_done() -> None:
    desk = Desk()
    finding = Finding(check="policy", message="not allowed")
    run = desk.run(None, lambda action: Deny(findings=(finding,)))
    with pytest.raises(Rejected):
        run.perform(Count(label="a"))
    assert Count.done == []
    assert [e.kind for e in desk.store.entries("r1")] == [Kind.REQUESTED, Kind.ENDED]
    with pytest.raises(Rejected, match="not allowed"):
        desk.run().perform(Count(label="a"))  # the ruling is recalled, even if the policy is gone


def test_a_fault_of_the_world_is_retried_on_resume() -> None:
    desk = Desk()
    with pytest.raises(WorldFault):
        desk.run().perform(Count(label="a", fault=True))
    with pytest.raises(WorldFault):
        desk.run().perform(Count(label="a", fault=True))
    assert Count.done == ["a", "a"]


def test_a_fault_may_have_been_billed_a_wrong_key_was_not() -> None:
    run = Desk().run()
    with pytest.raises(UsageError):
        run.perform(Count(label="a", misuse=True))
    assert run.view.spent.tokens == 0
    with pytest.raises(WorldFault):
        run.perform(Count(label="b", fault=True))
    assert run.view.spent.tokens == 10


def test_a_resumed_run_records_what_is_new_and_nothing_twice() -> None:
    desk = Desk()
    desk.run().note("a fallback was used")
    resumed = desk.run()
    resumed.note("an interrupted landing was undone")
    resumed.note("a fallback was used")
    texts = [e.payload for e in desk.store.entries("r1") if e.kind is Kind.NOTED]
    assert len(texts) == 2
    assert "undone" in texts[1]


def test_wall_clock_goes_on_where_the_journal_left_it() -> None:
    """Case C11: a crash and resume in a loop must not have a fresh budget each time."""
    desk = Desk()
    budget = Budget(timeout=10)
    desk.run(budget).perform(Count(label="a", seconds=6))
    resumed = desk.run(budget)
    resumed.perform(Count(label="a", seconds=6))
    resumed.perform(Count(label="b", seconds=6))
    assert resumed.view.spent.seconds == pytest.approx(12)
    with pytest.raises(Exhausted) as caught:
        resumed.perform(Count(label="c"))
    assert caught.value.reason is StopReason.TIMEOUT


def test_a_branch_spends_from_its_parent() -> None:
    """Case C1: one ledger for parent and children."""
    desk = Desk()
    run = desk.run(Budget(max_tokens=12))
    child = run.branch("child", Budget(max_tokens=1_000))
    child.perform(Count(label="a"))
    assert run.view.spent.tokens == 5
    with pytest.raises(Exhausted):
        child.perform(Count(label="b"))
    assert {e.key for e in desk.store.entries("r1")} == {"child/1:count", "child/2:count"}


def test_branches_on_threads_cannot_spend_the_same_tokens_twice() -> None:
    """Each action holds back ten tokens while it runs; a budget of twelve lets one run at a time."""
    desk = Desk()
    run = desk.run(Budget(max_tokens=12))
    inside, outcomes = threading.Barrier(4, timeout=10), []

    class Wait(Count):
        name: ClassVar[str] = "wait"

        def perform(self, world: World) -> int:
            inside.wait()  # until the three others were refused
            return 0

    def spend(branch: Run) -> None:
        try:
            branch.perform(Wait(label="x"))
            outcomes.append("done")
        except Exhausted:
            outcomes.append("refused")
            inside.wait()

    threads = [threading.Thread(target=spend, args=(run.branch(f"b{n}"),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "refused", "refused", "refused"]
    assert run.view.spent.tokens == 5


def test_a_branch_has_no_more_time_than_its_parent_and_a_name_of_its_own() -> None:
    desk = Desk()
    run = desk.run(Budget(timeout=5))
    child = run.branch("b", Budget(timeout=500))
    assert child._bounded.seconds_left() <= 5
    with pytest.raises(ValueError, match="already"):
        run.branch("b")


def test_a_second_process_cannot_take_a_living_run_and_a_fenced_one_stops() -> None:
    desk = Desk()
    run = desk.run()
    with pytest.raises(UsageError, match="being worked on by me"):
        desk.store.claim("r1", "other", desk.clock.now(), 30.0)
    desk.clock.advance(60)
    desk.store.claim("r1", "other", desk.clock.now(), 30.0)
    with pytest.raises(WorldFault, match="taken over"):
        run.perform(Count(label="a"))
    assert Count.done == []


class Look(Action[bool]):
    """Reads for as long as it takes until the lease is renewed."""

    name: ClassVar[str] = "look"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = bool
    renewed: ClassVar[threading.Semaphore] = threading.Semaphore(0)

    def perform(self, world: World) -> bool:
        return self.renewed.acquire(timeout=60)


class Glance(Action[bool]):
    name: ClassVar[str] = "glance"
    effect: ClassVar[Effect] = Effect.READ
    result_type: ClassVar[type] = bool
    instant: ClassVar[bool] = True

    def perform(self, world: World) -> bool:
        return True


class Leases(MemoryStore):
    """Tells of renewals."""

    def renew(self, lease: Lease, now: float, ttl: float) -> None:
        super().renew(lease, now, ttl)
        Look.renewed.release()


def test_the_lease_is_kept_while_anything_but_an_instant_action_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot of a large repository only reads, and may take longer than a lease lasts."""
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    desk = Desk()
    desk.store = Leases()
    desk.store.create("r1", "{}", "now")
    run = desk.run()
    assert run.perform(Glance())
    assert not run._journal._keeper._beating
    assert run.perform(Look())


def test_one_thread_keeps_the_lease_for_all_actions_and_ends_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    renewed, beats = threading.Semaphore(0), 0

    def renew() -> None:
        nonlocal beats
        beats += 1
        renewed.release()

    others = {t for t in threading.enumerate() if t.name == "lease"}
    keeper = lease.Keeper(renew)
    with keeper.kept(), keeper.kept():
        assert all(renewed.acquire(timeout=60) for _ in range(3))
        assert len({t for t in threading.enumerate() if t.name == "lease"} - others) == 1
    for thread in {t for t in threading.enumerate() if t.name == "lease"} - others:
        thread.join(60)
    with keeper.kept():
        assert renewed.acquire(timeout=60), "it begins again"
    assert beats >= 4


class Scratch(Glance):
    name: ClassVar[str] = "scratch"
    effect: ClassVar[Effect] = Effect.SCRATCH
    seconds: float = SHORT_SECONDS

    def perform(self, world: World) -> bool:
        world.clock.sleep(self.seconds)
        return True


class Quick(Scratch):
    name: ClassVar[str] = "quick"
    seconds: float = SHORT_SECONDS / 2


class Wordy(Action[str]):
    name: ClassVar[str] = "wordy"
    effect: ClassVar[Effect] = Effect.SCRATCH
    result_type: ClassVar[type] = str

    def perform(self, world: World) -> str:
        return "x" * INLINE_BYTES


class Passing(Scratch):
    name: ClassVar[str] = "passing"
    volatile: ClassVar[bool] = True


class Disk(MemoryStore):
    """Tells which entries waited for the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.durable: dict[tuple[str, Kind], bool] = {}
        self.blobs: list[bool] = []

    def append(self, lease: Lease, entry: Entry, *, durable: bool = True) -> None:
        self.durable[entry.action, entry.kind] = durable
        super().append(lease, entry, durable=durable)

    def put(self, data: bytes, *, durable: bool = True) -> str:
        self.blobs.append(durable)
        return super().put(data, durable=durable)


def test_an_ending_waits_for_the_disk_only_if_it_saves_work_on_resume() -> None:
    desk = Desk()
    desk.store = disk = Disk()
    disk.create("r1", "{}", "now")
    run = desk.run()
    for action in (Scratch(), Quick(), Passing(), Glance(), Count(label="a")):
        run.perform(action)
    ended_durably = {name for (name, kind), durable in disk.durable.items() if durable and kind is Kind.ENDED}
    begun_durably = {name for (name, kind), durable in disk.durable.items() if durable and kind is Kind.REQUESTED}
    assert (ended_durably, begun_durably) == ({"scratch", "count"}, {"count"})


def test_a_long_result_is_on_the_disk_before_an_entry_names_it() -> None:
    """The entry of quick work need not wait for the disk, but the next one that does makes it durable, too."""
    desk = Desk()
    desk.store = disk = Disk()
    disk.create("r1", "{}", "now")
    run = desk.run()
    run.perform(Wordy())
    assert (disk.durable["wordy", Kind.ENDED], disk.blobs) == (False, [True])


def test_the_chain_shows_any_edit_of_the_record() -> None:
    desk = Desk()
    run = desk.run()
    for label in "abc":
        run.perform(Count(label=label))
    entries = list(desk.store.entries("r1"))
    assert check_chain(tuple(entries)) is None
    for i, entry in enumerate(entries):
        edited = [*entries[:i], entry.model_copy(update={"payload": '{"outcome":"done"}'}), *entries[i + 1 :]]
        assert check_chain(tuple(edited)) == i + 1
    assert check_chain(tuple(entries[1:])) == 2


def recorded(actions: int) -> tuple[tuple[Entry, ...], str]:
    """The entries of a run of so many actions, and where they end."""
    desk = Desk()
    run = desk.run()
    for n in range(actions):
        run.perform(Count(label=str(n)))
    record = desk.store.run("r1")
    assert record is not None
    return desk.store.entries("r1"), record.head


def test_every_changed_byte_is_found() -> None:
    entries, head = recorded(4)
    assert check_chain(entries, head) is None
    for i, entry in enumerate(entries):
        for field in ("at", "key", "action", "payload", "prev", "digest"):
            text = getattr(entry, field)
            for at in range(len(text)):
                other = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
                changed = (*entries[:i], entry.model_copy(update={field: other}), *entries[i + 1 :])
                assert check_chain(changed, head) == i + 1


def test_in_a_long_chain_dropped_and_swapped_entries_are_found_up_to_the_last() -> None:
    entries, head = recorded(500)
    assert len(entries) >= 1_000
    assert check_chain(entries, head) is None
    for i in (*range(1, len(entries), 53), len(entries) - 1):
        assert check_chain((*entries[:i], *entries[i + 1 :]), head) is not None
        assert check_chain((*entries[: i - 1], entries[i], entries[i - 1], *entries[i + 1 :]), head) is not None
    assert check_chain(entries[:-5], head) == len(entries) - 4


def test_a_series_is_one_entry_that_holds_its_parts_and_costs_what_they_cost() -> None:
    desk = Desk()
    run = desk.run()

    def work() -> int:
        return run.perform(Count(label="a", usd=Decimal("0.02"))) + run.perform(Count(label="b", usd=Decimal("0.02")))

    assert run.within(Count(label="whole"), work) == 3
    spent = run.view.spent
    keys = [e.key for e in desk.store.entries("r1")]
    assert keys == ["1:count", "1:count/1:count", "1:count/1:count", "1:count/2:count", "1:count/2:count", "1:count"]
    again = desk.run()
    assert again.within(Count(label="whole"), lambda: 0) == 3, "recalled as a whole"
    assert again.view.spent.usd == spent.usd == Decimal("0.02")
    assert Count.done == ["a", "b"]


def test_a_series_that_was_cut_off_goes_on_with_its_next_part() -> None:
    desk = Desk()

    def work(run: Run, cut: bool) -> int:
        first = run.perform(Count(label="a"))
        if cut:
            raise KeyboardInterrupt
        return first + run.perform(Count(label="b"))

    run = desk.run()
    with pytest.raises(KeyboardInterrupt):
        run.within(Count(label="whole"), lambda: work(run, True))
    again = desk.run()
    assert again.within(Count(label="whole"), lambda: work(again, False)) == 3
    assert Count.done == ["a", "b"], "each part once"
