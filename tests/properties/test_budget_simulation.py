"""Simulated runs with random prices, sizes, faults and concurrency: no axis is ever exceeded.

REFEREE_BUDGETS=10000 for the full count.
"""

from __future__ import annotations

import os
import random
import threading
from decimal import Decimal

from referee.actions.call_model import CallModel
from referee.actions.step import ChargeStep
from referee.domain.cost import Budget
from referee.domain.errors import Exhausted, Withdrawn, WorldFault
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Message, ModelReply, ModelRequest, Price, Usage
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

COUNT = int(os.environ.get("REFEREE_BUDGETS", "150"))


class Fickle:
    """Costs and fails as chance has it, and says truthfully what it used; never more than it was admitted for."""

    name = "t:fickle"

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._lock = chance, threading.Lock()
        rates = [Decimal(chance.choice((0, 1, 30, 1_000))) for _ in range(4)]
        self._price = Price(
            input=rates[0], output=rates[1], cache_read=min(rates[0], rates[2]), cache_write=rates[3], source="t"
        )

    def price(self) -> Price:
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            if self._chance.random() < 0.2:
                raise WorldFault("no answer")
            size = len(request.system) // 3
            parts = sorted(self._chance.randrange(size + 1) for _ in range(2))
            usage = Usage(
                fresh_input=parts[0],
                cache_read=parts[1] - parts[0],
                cache_write=size - parts[1],
                output=self._chance.randrange(request.max_tokens + 1),
            )
        return ModelReply(content="{}", usage=usage)


def simulate(seed: int) -> None:
    chance = random.Random(seed)
    clock, store = FakeClock(), MemoryStore()
    store.create("r", "{}", "now")
    model = Fickle(chance)
    equipment = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda command: ended(0)), {model.name: model}, clock)
    lease = store.claim("r", "me", clock.now(), 30.0)
    shared = Shared(run_id="r", world=equipment, journal=Journal(store, lease, clock), store=store)
    budget = Budget(
        max_steps=chance.randrange(1, 9),
        max_tokens=chance.choice((0, 500, 5_000, 50_000)),
        max_cost_usd=Decimal(chance.choice(("0", "0.01", "0.5", "5"))),
    )
    run = Run(shared, budget)

    def work(branch: Run, own: random.Random) -> None:
        try:
            for _ in range(own.randrange(1, 12)):
                branch.perform(ChargeStep(author="a"))
                request = ModelRequest(
                    role="generator",
                    system="s" * own.choice((30, 3_000)),
                    messages=(Message(role="user", content="u"),),
                    max_tokens=own.choice((10, 1_000)),
                )
                try:
                    branch.perform(CallModel(model=model.name, request=request))
                except WorldFault:
                    continue
        except (Exhausted, Withdrawn):
            return

    lanes = [run.branch(f"b{n}") for n in range(chance.choice((1, 1, 3)))]
    threads = [threading.Thread(target=work, args=(b, random.Random(f"{seed} {n}"))) for n, b in enumerate(lanes)]
    for thread in threads:
        thread.start()
    if len(lanes) > 1 and chance.random() < 0.5:
        lanes[0].withdraw()
    for thread in threads:
        thread.join()
    spent = run.view.spent
    assert spent.steps <= budget.max_steps, seed
    assert spent.tokens <= budget.max_tokens, seed
    assert spent.usd <= budget.max_cost_usd, seed
    for lane in lanes:
        lane.withdraw()
    assert run.view.spent == spent, "nothing is in flight, so nothing more is charged"


def test_no_axis_is_ever_exceeded() -> None:
    for seed in range(COUNT):
        simulate(seed)
