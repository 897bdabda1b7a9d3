"""Asking a model through the gate: nothing unpriced, nothing that the budget could not bear at worst."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

import model_server as server
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.actions.call_model import CallModel, input_tokens
from referee.adapters.models.provider import Endpoint, ProviderModel
from referee.authors.model import ModelAuthor, Voice
from referee.domain.brief import Brief
from referee.domain.cost import Budget, Cost
from referee.domain.errors import Exhausted, UsageError
from referee.domain.reason import StopReason
from referee.domain.task import Task
from referee.kernel.action import Effect
from referee.kernel.journal import Journal
from referee.kernel.run import Run, Shared
from referee.ports import Message, Model, ModelReply, ModelRequest, Price, Usage
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

PRICE = Price(input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"), source="t")
REQUEST = ModelRequest(
    role="generator", system="s" * 300, messages=(Message(role="user", content="u" * 600),), max_tokens=1000
)


class Answering:
    """A model that says how long it was allowed to think."""

    name = "t:one"

    def __init__(self, price: Price | None, usage: Usage, clock: FakeClock | None = None, seconds: float = 0) -> None:
        self._price, self._usage, self._clock, self._seconds = price, usage, clock, seconds
        self.calls: list[ModelRequest] = []

    def price(self) -> Price | None:
        return self._price

    def call(self, request: ModelRequest) -> ModelReply:
        self.calls.append(request)
        if self._clock is not None:
            self._clock.advance(self._seconds)
        return ModelReply(content="{}", usage=self._usage)


class Place:
    """One store and one clock, on which runs of the same id can be begun again."""

    def __init__(self, model: Model, clock: FakeClock | None = None, files: Mapping[str, bytes] | None = None) -> None:
        self.clock, self.store, self.model = clock or FakeClock(), MemoryStore(), model
        self.workspace = FakeWorkspace(files or {})
        self.store.create("r", "{}", "now")

    def run(self, **budget: object) -> Run:
        sandbox = FakeSandbox(lambda command: ended(0))
        equipment = FakeEquipment(self.workspace, sandbox, {self.model.name: self.model}, self.clock)
        lease = self.store.claim("r", "me", self.clock.now(), 30.0)
        shared = Shared(run_id="r", world=equipment, journal=Journal(self.store, lease, self.clock), store=self.store)
        return Run(shared, Budget.model_validate(budget))


def test_the_cost_is_charged_and_recorded() -> None:
    place = Place(Answering(PRICE, Usage(fresh_input=1000, cache_read=2000, cache_write=400, output=100)))
    run = place.run()
    reply = run.perform(CallModel(model="t:one", request=REQUEST))
    assert reply.cost_usd == Decimal("0.0066")
    assert run.view.spent.usd == Decimal("0.0066")
    assert run.view.spent.tokens == 3500


def test_a_recorded_reply_is_not_paid_twice() -> None:
    """Case C10: after a resume the spending is what it was."""
    model = Answering(PRICE, Usage(fresh_input=10, output=10))
    place = Place(model)
    first = place.run()
    first.perform(CallModel(model="t:one", request=REQUEST))
    place.clock.advance(60)  # the first process is gone and its lease with it
    again = place.run()
    again.perform(CallModel(model="t:one", request=REQUEST))
    assert len(model.calls) == 1
    assert again.view.spent.usd == first.view.spent.usd


def test_an_unknown_price_is_refused_before_anything_is_sent() -> None:
    """Case C6."""
    model = Answering(None, Usage())
    place = Place(model)
    with pytest.raises(UsageError, match="--price INPUT,OUTPUT"):
        place.run().perform(CallModel(model="t:one", request=REQUEST))
    assert model.calls == []


@pytest.mark.parametrize(
    ("budget", "reason"),
    [({"max_cost_usd": "0.016"}, StopReason.COST_TRIPPED), ({"max_tokens": 1300}, StopReason.TOKEN_EXHAUSTED)],
)
def test_what_cannot_be_borne_at_worst_is_not_begun(budget: dict[str, object], reason: StopReason) -> None:
    """Case C1."""
    model = Answering(PRICE, Usage())
    place = Place(model)
    with pytest.raises(Exhausted) as raised:
        place.run(**budget).perform(CallModel(model="t:one", request=REQUEST))
    assert raised.value.reason is reason
    assert model.calls == []


def test_a_call_never_outlives_the_run() -> None:
    clock = FakeClock()
    model = Answering(PRICE, Usage(), clock, seconds=90.0)
    run = Place(model, clock).run(timeout=100)
    run.perform(CallModel(model="t:one", request=REQUEST))
    run.perform(CallModel(model="t:one", request=REQUEST))
    assert [c.timeout_seconds for c in model.calls] == [100.0, 10.0]


def test_the_action_says_what_it_is() -> None:
    action = CallModel(model="t:one", request=REQUEST)
    assert (action.name, action.effect) == ("call_model", Effect.SPEND)
    assert action.cost(ModelReply(content="")) == Cost()
    assert input_tokens(REQUEST) == 300 + 2 * 64


def test_from_a_brief_to_a_proposal_over_a_real_connection() -> None:
    """Case C18: two rate limits, a wrong form, then an answer; only the wrong form is the model's doing."""
    edit = {"path": "a.py", "action": "modify", "rationale": "w", "edits": [{"old": "1", "new": "2"}]}
    good = json.dumps({"analysis": "", "root_cause": "r", "files": [edit]})
    behaviours = [server.fails(429), server.fails(429), server.says("Certainly!"), server.says(f"```json\n{good}\n```")]
    with server.serving(*behaviours) as running:
        provider = ProviderModel("openai:tiny", Endpoint(base_url=running.url, price=PRICE, backoff_seconds=0.01))
        place = Place(provider, files={"a.py": b"x = 1\n"})
        run = place.run()
        author = ModelAuthor(Voice(model="openai:tiny", role="generator"))
        tree = place.workspace.snapshot("r").tree
        offer = author.propose(run, Brief(task=Task(), base=tree, targets=("t.py::t",), feedback="f"))
    assert offer.proposal is not None
    assert offer.proposal.files[0].edits[0].new == "2"
    last = running.requests[-1]
    assert [m["role"] for m in last["messages"]] == ["system", "user", "assistant", "user"]
    assert "no JSON object" in last["messages"][-1]["content"]
    assert last["messages"][:2] == running.requests[0]["messages"]
    assert run.view.spent.tokens == 240
    assert run.view.spent.usd == 2 * (100 * PRICE.input + 20 * PRICE.output) / 1_000_000


TOKENS = st.integers(0, 10**7)
RATE = st.decimals(0, 1000, places=4)


@given(st.tuples(TOKENS, TOKENS, TOKENS, TOKENS), RATE, RATE, st.floats(0, 1), RATE)
def test_cost_never_exceeds_all_fresh_plus_the_cache_premium(
    tokens: tuple[int, int, int, int], fresh: Decimal, out: Decimal, share: float, premium: Decimal
) -> None:
    """Case C3."""
    price = Price(
        input=fresh, output=out, cache_read=fresh * Decimal(str(share)), cache_write=fresh + premium, source="t"
    )
    usage = Usage(fresh_input=tokens[0], cache_read=tokens[1], cache_write=tokens[2], output=tokens[3])
    all_fresh = fresh * (tokens[0] + tokens[1] + tokens[2]) + out * tokens[3]
    assert price.of(usage) <= (all_fresh + premium * tokens[2]) / 1_000_000
    assert usage.total == sum(tokens)
