"""What only a journal in PostgreSQL can get wrong: other repositories, newer tables, takeovers in the middle."""

from __future__ import annotations

import threading

import psycopg
import pytest

from referee.adapters.store.owner import me
from referee.adapters.store.postgres import PostgresStore
from referee.adapters.store.postgres_tables import VERSION
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Entry, Kind


def entry(n: int) -> Entry:
    return Entry(n=n, at="t", key=f"k{n}", kind=Kind.REQUESTED, action="a", payload="{}", prev="p", digest=f"d{n}")


@pytest.mark.parametrize("change", ["update referee.entry set payload = '{}'", "delete from referee.entry"])
def test_entries_cannot_be_changed_even_by_hand(journals: str, change: str) -> None:
    store = PostgresStore(journals)
    store.create("r", "{}", "t")
    store.append(store.claim("r", "me", 0, 10), entry(1))
    with psycopg.connect(journals) as db, pytest.raises(psycopg.Error, match="append-only"):
        db.execute(change)
    assert [e.n for e in store.entries("r")] == [1]
    store.close()


def test_a_repository_sees_its_own_runs_and_a_worker_all(journals: str) -> None:
    here, there, everywhere = (PostgresStore(journals, place) for place in ("/here", "/there", ""))
    here.create("a", "{}", "t1")
    there.create("b", "{}", "t2")
    assert [[r.run_id for r in store.runs()] for store in (here, there, everywhere)] == [["a"], ["b"], ["b", "a"]]
    assert here.run("b") is None and everywhere.run("b") is not None
    for store in (here, there, everywhere):
        store.close()


def test_a_database_without_tables_says_what_to_type(journals: str) -> None:
    with psycopg.connect(journals, autocommit=True) as db:
        db.execute("drop schema referee cascade")
    with pytest.raises(UsageError, match="referee db migrate"):
        PostgresStore(journals)
    assert PostgresStore.migrate(journals) == (0, VERSION)
    assert PostgresStore.migrate(journals) == (VERSION, VERSION)
    with psycopg.connect(journals, autocommit=True) as db:
        db.execute("update referee.version set n = 99")
    for use in (PostgresStore, PostgresStore.migrate):
        with pytest.raises(UsageError, match="newer referee"):
            use(journals)


def test_an_address_that_is_none_is_not_repeated() -> None:
    with pytest.raises(UsageError, match="no address") as wrong:
        PostgresStore("postgresql//shop:hunter2@nowhere")
    assert "hunter2" not in str(wrong.value)


def test_a_takeover_waits_for_an_entry_that_is_being_written(journals: str) -> None:
    """The old owner's entry is there before the new owner reads, or it is refused: never later."""
    old, new = PostgresStore(journals), PostgresStore(journals)
    old.create("r", "{}", "t")
    lease = old.claim("r", me(), 0, 10)
    taken: list[int] = []
    taking = threading.Thread(target=lambda: taken.append(new.claim("r", "other", 11, 10).fence))
    with old._link.transaction():
        old.append(lease, entry(1))
        taking.start()
        taking.join(0.3)
        assert not taken
    taking.join(20)
    assert taken == [2]
    assert [e.n for e in new.entries("r")] == [1]
    with pytest.raises(WorldFault, match="taken over"):
        old.append(lease, entry(2))
    old.close()
    new.close()


def test_a_server_that_comes_back_is_used_again(journals: str) -> None:
    store = PostgresStore(journals)
    store.create("r", "{}", "t")
    with psycopg.connect(journals, autocommit=True) as db:
        db.execute("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
    with pytest.raises(WorldFault, match="the journal in PostgreSQL could not be used"):
        store.runs()
    assert [r.run_id for r in store.runs()] == ["r"]
    store.close()
