"""Secrets do not get into what is written: by value, in any usual spelling, and by the form of a key."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.actions.tree import Apply
from referee.adapters.sandbox.discreet import DiscreetSandbox
from referee.adapters.store import SqliteStore
from referee.api.recorder import discreet
from referee.api.spec import Spec, sayable
from referee.config import Config, secrets_of
from referee.domain.cost import Budget
from referee.domain.errors import Rejected, UsageError, WorldFault
from referee.domain.finding import Finding
from referee.domain.outside import Proposal, Request
from referee.domain.patch import FileContent, patch_of
from referee.domain.reason import StopReason
from referee.domain.redaction import Redaction, worth
from referee.domain.report import Outcome, Report
from referee.domain.task import Task
from referee.judge import stream
from referee.kernel.action import Action, Effect
from referee.kernel.journal import GENESIS, Journal, chained, check_chain
from referee.kernel.run import Run, Shared
from referee.policy import unhidden
from referee.ports import Command, Entry, Kind, Signal, Store, World
from referee.testing import FakeClock, FakeEquipment, FakeSandbox, FakeWorkspace, MemoryStore, ended

SECRET = 'n3w"S\\ecret/ä-4711'
SECRETS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=8, max_size=40).filter(worth)
AROUND = st.text(max_size=30)


class Tell(Action[dict[str, Any]]):
    """Answers with what it was given, or refuses with it."""

    name: ClassVar[str] = "tell"
    effect: ClassVar[Effect] = Effect.SPEND
    result_type: ClassVar[Any] = dict[str, Any]

    answer: dict[str, Any]
    refuse: bool = False

    def perform(self, world: World) -> dict[str, Any]:
        if self.refuse:
            raise Rejected((Finding(check="c", message=str(self.answer)),))
        return self.answer


def run_on(store: Store, clock: FakeClock) -> Run:
    clock.advance(1_000)
    lease = store.claim("r", "me", clock.now(), 30.0)
    world = FakeEquipment(FakeWorkspace({}), FakeSandbox(lambda c: ended(0)), clock=clock)
    return Run(Shared(run_id="r", world=world, journal=Journal(store, lease, clock), store=store), Budget())


def spelt(secret: str) -> list[str]:
    return [secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")]


def written(folder: Path) -> str:
    """Every byte that a store has written, as text."""
    return "\n".join(p.read_bytes().decode("utf-8", "replace") for p in folder.rglob("*") if p.is_file())


@settings(max_examples=60, deadline=None)
@given(SECRETS, AROUND, AROUND)
def test_no_spelling_of_a_secret_is_left_and_json_stays_json(secret: str, before: str, after: str) -> None:
    redaction = Redaction({"SHOP": secret})
    for spelling in spelt(secret):
        assert secret not in redaction.text(f"{before}{spelling}{after}")
    nested = json.dumps({"a": [f"{before}{secret}{after}", 7], secret: json.dumps({"b": secret})})
    found = json.loads(redaction.document(nested))
    assert secret not in json.dumps(found, ensure_ascii=False) and "[hidden SHOP]" in found
    assert json.loads(found["[hidden SHOP]"]) == {"b": "[hidden SHOP]"} and found["a"][1] == 7


@settings(max_examples=25, deadline=None)
@given(SECRETS, AROUND, st.booleans())
def test_what_is_done_with_a_secret_is_recorded_without_it_and_replayed_alike(
    tmp_path_factory: pytest.TempPathFactory, secret: str, around: str, refuse: bool
) -> None:
    folder = tmp_path_factory.mktemp("state")
    store, clock = SqliteStore(str(folder), Redaction({"SHOP": secret})), FakeClock()
    store.create("r", json.dumps({"task": around + secret}), "t")
    action = Tell(answer={"said": f"{around}{secret}", "long": [secret] * 2_000}, refuse=refuse)

    def done() -> str:
        try:
            return json.dumps(run_on(store, clock).perform(action))
        except Rejected as refused:
            return refused.findings[0].message

    first = done()
    assert secret not in first and done() == first, "live and replayed differ"
    run_on(store, clock).note(f"{around}{secret}{around}")
    store.leave("r", "answer", Signal(name="q/1", payload=json.dumps({"text": secret}), at="t"))
    store.finish(store.claim("r", "me", clock.now() + 999, 1), "done", json.dumps({"diff": secret}))
    assert check_chain(store.entries("r"), store.run("r").head) is None  # type: ignore[union-attr]
    store.close()
    kept = written(folder)
    assert "[hidden SHOP]" in kept
    assert all(s not in kept for s in spelt(secret))


def test_the_control_an_ignorant_store_keeps_the_secret(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path))
    store.create("r", "{}", "t")
    run_on(store, FakeClock()).perform(Tell(answer={"said": "s3cr3t-4711"}))
    store.close()
    assert "s3cr3t-4711" in written(tmp_path)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_an_entry_that_is_chained_with_a_secret_is_refused(kind: str, tmp_path: Path) -> None:
    redaction = Redaction({"SHOP": SECRET})
    store: Store = MemoryStore(redaction) if kind == "memory" else SqliteStore(str(tmp_path), redaction)
    store.create("r", "{}", "t")
    entry = Entry(n=1, at="t", key="k", kind=Kind.NOTED, payload=json.dumps({"text": SECRET}), prev=GENESIS)
    with pytest.raises(WorldFault, match="holds a secret"):
        store.append(store.claim("r", "me", 0, 10), entry.model_copy(update={"digest": chained(entry)}))
    assert store.entries("r") == () and store.get(store.put(SECRET.encode())) == b"[hidden SHOP]"


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-" + "Ab3d" * 6, "ghp_" + "a1B2" * 9, "AKIA" + "0A1B" * 4,
        f"xoxb-{'12' * 6}-abc", "sk_live_" + "a1" * 8,
        f"eyJ{'hbGci' * 3}.eyJ{'zdWIi' * 3}.{'dozjg' * 3}", "Authorization: Bearer abcdef123456",
        "postgres://shop:hunter22@db/x", f"+-----BEGIN RSA PRIVATE KEY-----\n+{'Ab1/' * 30}\n+-----END",
    ],
)  # fmt: skip
def test_what_has_the_form_of_a_key_is_hidden_where_people_are_told(text: str) -> None:
    shown = Redaction().text(f"see {text} here", forms=True)
    assert "[hidden key]" in shown and text not in shown and shown.endswith(" here")
    assert Redaction().text(text) == text, "what a run acts on stays as it is"


def test_ordinary_text_is_not_hidden_and_hostile_text_takes_no_time() -> None:
    text = "task-sk-learn-model http://host:80/a@b user@host sk_model_final src/token.py password=secretword"
    assert Redaction({"PASSWORD": "secretword", "PIN": "12345678", "X": "short"}).text(text, forms=True) == text
    begun = time.monotonic()
    for hostile in ("sk-" * 100_000, "a." * 100_000 + "://", "eyJ" * 100_000, "-----BEGIN PRIVATE KEY-----" * 20_000):
        Redaction().text(hostile, forms=True)
    assert time.monotonic() - begun < 20


def test_secrets_are_known_by_their_names() -> None:
    found = secrets_of(
        {"OPENAI_API_KEY": "abc-12345678", "SSH_KEY_FILE": "/home/x", "HOME": "/root", "SHOP": "sqlite:shop.db",
         "DB": "postgresql://shop:hunter22@db/x", "GIT_TOKEN": "/run/secrets/token", "REFEREE_API_KEY_ENV": "SHOP"},
        ("SHOP",),
    )  # fmt: skip
    assert found == {"OPENAI_API_KEY": "abc-12345678", "SHOP": "sqlite:shop.db", "DB": "hunter22"}


def test_a_signed_report_without_a_secret_still_verifies() -> None:
    key, body = b"k" * 32, json.dumps([0, "begin", {"said": SECRET}]).encode()
    channel = stream._sign(key, body).encode() + b" " + body + b"\n"
    told = {"stdout": SECRET.encode(), "channel": channel, "key": key}
    inner = FakeSandbox(lambda c: ended(0).model_copy(update=told))
    seen = DiscreetSandbox(inner, Redaction({"SHOP": SECRET})).run(Command(argv=("x",)))
    assert seen.stdout == b"[hidden SHOP]"
    assert list(stream.frames(seen.channel, key)) == [("begin", {"said": "[hidden SHOP]"})]
    forged = channel.replace(b"begin", b"ended")
    inner = FakeSandbox(lambda c: ended(0).model_copy(update={"channel": forged, "key": key}))
    seen = DiscreetSandbox(inner, Redaction({"SHOP": SECRET})).run(Command(argv=("x",)))
    with pytest.raises(ValueError, match="not signed"):
        list(stream.frames(seen.channel, key))


def test_a_mark_is_never_written_in_a_secrets_place() -> None:
    rule = unhidden(Redaction({"SHOP": SECRET}))
    for text, denied in ((b"key = '[hidden SHOP]'", True), (b"key = '[hidden OTHER]'", False)):
        patch = patch_of({"src/a.py": FileContent(data=text)})
        assert (rule(Apply(base="t", patch=patch)) is not None) is denied


def test_a_secret_in_the_task_is_hidden_and_one_in_what_is_sent_is_refused() -> None:
    redaction = Redaction({"SHOP": SECRET})
    said = sayable(Spec(task=Task(text=f"log in with {SECRET}"), config=Config()), redaction)
    assert said.task.text == "log in with [hidden SHOP]" and "hidden" in said.config.notes[-1]
    request = Request(tool="http", arguments={"body": SECRET})
    with pytest.raises(UsageError, match="the value of SHOP"):
        sayable(
            Spec(task=Task(), config=Config(), proposal=Proposal(request=request, key="k", requester="me")), redaction
        )


def test_a_report_says_loudly_that_something_is_hidden() -> None:
    report = Report(
        run_id="r", task="t", stop_reason=StopReason.SOLVED, solved=True, explanation=f"it printed {SECRET}"
    )
    outcome = Outcome(solved=True, stop_reason=StopReason.SOLVED, diff=f"+{SECRET}", report=report)
    shown = discreet(outcome, Redaction({"SHOP": SECRET}))
    assert shown.diff == "+[hidden SHOP]" and "A patch file is exact" in shown.report.notes[-1]
    assert discreet(outcome, Redaction()) is outcome
