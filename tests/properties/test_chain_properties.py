"""Nothing of a chain of 1,000 entries can be changed, dropped or swapped unnoticed.

REFEREE_TAMPERS is how many bytes are changed, one at a time; from 1,000 on every drop and every pair of neighbours is
tried, too. The gate takes a sample.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from referee.kernel.action import Effect
from referee.kernel.journal import Ending, Journal, check_chain
from referee.ports import Entry, Kind
from referee.testing import FakeClock, MemoryStore

LENGTH = 1_000
SAMPLE = int(os.environ.get("REFEREE_TAMPERS", "250"))
ALL = SAMPLE >= LENGTH


@pytest.fixture(scope="module")
def chain() -> tuple[tuple[Entry, ...], str]:
    store, clock = MemoryStore(), FakeClock()
    store.create("r", "{}", "t")
    journal = Journal(store, store.claim("r", "me", clock.now(), 1e9), clock)
    for n in range(LENGTH // 4):
        key, facts = f"{n}:act", {"action_digest": f"{n:064x}"}
        journal.request(key, "act", facts, Effect.READ)
        journal.note(f"{key}?1", Kind.ASKED, {"question": {"summary": f"is it {n}?"}})
        journal.note(f"{key}?1", Kind.ANSWERED, {"answers": [{"text": "yes"}]})
        journal.end(key, "act", Ending(outcome="done", result=f'"é{n}"', elapsed=float(n)), durable=True)
    record = store.run("r")
    assert record is not None and len(store.entries("r")) == LENGTH
    return store.entries("r"), record.head


def places(entries: tuple[Entry, ...]) -> Iterator[tuple[int, int]]:
    """Which byte of which entry's text."""
    sizes = [len(e.model_dump_json().encode()) for e in entries]
    chance = random.Random(7)
    for _ in range(SAMPLE):
        n = chance.randrange(LENGTH)
        yield n, chance.randrange(sizes[n])


def test_every_changed_byte_shows(chain: tuple[tuple[Entry, ...], str]) -> None:
    entries, head = chain
    chance, parsed = random.Random(8), 0
    for n, at in places(entries):
        text = bytearray(entries[n].model_dump_json().encode())
        text[at] = chance.choice([b for b in b'09afAF"{}:, x' if b != text[at]])
        try:
            changed = Entry.model_validate_json(bytes(text))
        except ValidationError:
            continue  # it cannot even be read
        parsed += 1
        assert changed != entries[n]
        assert check_chain((*entries[:n], changed, *entries[n + 1 :]), head) is not None, (n, at)
    assert parsed > SAMPLE // 2


def test_every_dropped_entry_shows(chain: tuple[tuple[Entry, ...], str]) -> None:
    entries, head = chain
    for n in range(LENGTH) if ALL else random.Random(9).sample(range(LENGTH), 100):
        assert check_chain((*entries[:n], *entries[n + 1 :]), head) is not None, n
    assert check_chain(entries[:-1], head) is not None and check_chain((), head) is not None


def test_every_swap_and_every_repetition_shows(chain: tuple[tuple[Entry, ...], str]) -> None:
    entries, head = chain
    chance = random.Random(10)
    pairs = [tuple(sorted(chance.sample(range(LENGTH), 2))) for _ in range(100)]
    for a, b in [(n, n + 1) for n in range(LENGTH - 1)] if ALL else pairs:
        swapped = list(entries)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        assert check_chain(tuple(swapped), head) is not None, (a, b)
        assert check_chain((*entries[: a + 1], entries[a], *entries[a + 1 :]), head) is not None


def test_the_whole_chain_is_whole(chain: tuple[tuple[Entry, ...], str]) -> None:
    assert check_chain(*chain) is None
