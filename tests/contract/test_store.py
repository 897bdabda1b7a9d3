"""Every store behaves alike: append-only, fenced, durable, verified."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.adapters.store import SqliteStore, sqlite
from referee.adapters.store.owner import alive, me
from referee.adapters.store.postgres import PostgresStore
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Entry, Kind, Signal, Store
from referee.testing import MemoryStore


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore,
        "sqlite": lambda: SqliteStore(str(tmp_path / "s")),
        "postgres": lambda: PostgresStore(request.getfixturevalue("journals"), "/here"),
    }
    opened = made[request.param]()
    yield opened
    opened.close()


def entry(n: int, key: str = "", kind: Kind = Kind.REQUESTED) -> Entry:
    return Entry(n=n, at="t", key=key or f"k{n}", kind=kind, action="a", payload='{"x":1}', prev="p", digest="d")


def test_entries_come_back_in_order_and_equal(store: Store) -> None:
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    written = [entry(1), entry(2), entry(3, "k2", Kind.ENDED)]
    for e in written:
        store.append(lease, e)
    assert list(store.entries("r")) == written
    assert store.entries("other") == ()


def test_a_key_is_written_once_per_kind(store: Store) -> None:
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    store.append(lease, entry(1, "k"))
    with pytest.raises(WorldFault):
        store.append(lease, entry(2, "k"))


def test_an_entry_that_need_not_be_durable_outlives_a_killed_process(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        child = SqliteStore(str(tmp_path))
        child.create("r", "{}", "t")
        lease = child.claim("r", me(), 0, 10)
        for n in range(1, 4):
            child.append(lease, entry(n), durable=n == 2)
        os._exit(0)
    os.waitpid(pid, 0)
    assert [e.n for e in SqliteStore(str(tmp_path)).entries("r")] == [1, 2, 3]


def test_a_stale_fence_can_neither_append_nor_renew_nor_finish(store: Store) -> None:
    store.create("r", "{}", "t")
    old = store.claim("r", "me", 0, 10)
    new = store.claim("r", "me too", 11, 10)
    assert new.fence > old.fence
    for attempt in (
        lambda: store.append(old, entry(1)),
        lambda: store.renew(old, 12, 10),
        lambda: store.finish(old, "done", ""),
    ):
        with pytest.raises(WorldFault, match="taken over"):
            attempt()
    store.append(new, entry(1))


def test_a_signal_is_left_once_per_name_while_another_has_the_run(store: Store) -> None:
    store.create("r", "{}", "t")
    store.claim("r", me(), 0, 10)
    first, second, other = (Signal(name=n, payload=p, at="t") for n, p in (("q/1", "a"), ("q/1", "b"), ("q/2", "c")))
    assert store.leave("r", "answer", first) and not store.leave("r", "answer", second)
    assert store.leave("r", "answer", other) and store.leave("r", "stop", first)
    assert store.left("r", "answer") == (first, other)
    assert not store.leave("no such run", "answer", first)


def test_questions_and_answers_of_all_runs_are_found(store: Store) -> None:
    for n, run in enumerate(("a", "b")):
        store.create(run, "{}", f"t{n}")
        lease = store.claim(run, "me", 0, 10)
        for e in (entry(1), entry(2, "k2?1", Kind.ASKED), entry(3, "k2?1", Kind.ANSWERED)):
            store.append(lease, e)
    found = [(run, e.n, e.kind) for run, e in store.questions()]
    assert found == [(r, n, k) for r in ("a", "b") for n, k in ((2, Kind.ASKED), (3, Kind.ANSWERED))]


def test_a_living_lease_names_its_owner(store: Store) -> None:
    store.create("r", "{}", "t")
    store.claim("r", me(), 0, 10)
    with pytest.raises(UsageError, match=f"process {os.getpid()}"):
        store.claim("r", "other", 5, 10)


def test_a_released_run_can_be_taken_at_once(store: Store) -> None:
    store.create("r", "{}", "t")
    store.release(store.claim("r", me(), 0, 10))
    store.claim("r", "other", 1, 10)


def test_an_unknown_run_is_a_usage_error(store: Store) -> None:
    with pytest.raises(UsageError, match="no run nope"):
        store.claim("nope", "me", 0, 10)
    assert store.run("nope") is None


def test_runs_are_listed_newest_first_with_their_outcome(store: Store) -> None:
    for i in range(3):
        store.create(f"r{i}", f'{{"i":{i}}}', f"2026-01-0{i + 1}")
    store.finish(store.claim("r1", "me", 0, 10), "done", "solved")
    assert [(r.run_id, r.status, r.outcome) for r in store.runs()] == [
        ("r2", "stopped", ""),
        ("r1", "done", "solved"),
        ("r0", "stopped", ""),
    ]


def test_one_run_is_found_whatever_else_is_in_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        store.create(name, name, "t")
    if isinstance(store, SqliteStore):
        monkeypatch.setattr(store, "runs", None)  # thousands of runs are not read to find one
    found = store.run("b")
    assert found is not None and (found.run_id, found.spec) == ("b", "b")
    assert store.run("c") is None


def test_a_run_is_running_only_while_somebody_works_on_it(store: Store) -> None:
    store.create("r", "{}", "t")
    lease = store.claim("r", me(), 0, 10)
    running = store.run("r")
    store.release(lease)
    stopped = store.run("r")
    assert running is not None and stopped is not None
    assert (running.status, stopped.status) == ("running", "stopped")


def test_blobs_are_content_addressed(store: Store) -> None:
    digest = store.put(b"hello")
    assert store.put(b"hello") == digest
    assert store.get(digest) == b"hello"
    with pytest.raises(WorldFault, match="missing"):
        store.get("0" * 64)


def test_a_torn_blob_is_never_trusted_and_is_mended(tmp_path: Path) -> None:
    """Case I13: a partly written blob was trusted for ever because its name existed."""
    store = SqliteStore(str(tmp_path))
    digest = store.put(b"hello world")
    path = tmp_path / "blobs" / digest[:2] / digest[2:]
    path.write_bytes(b"hello")
    with pytest.raises(WorldFault, match="damaged"):
        store.get(digest)
    store.put(b"hello world")
    assert store.get(digest) == b"hello world"


@pytest.mark.parametrize("end", ["finish", "release", "put"])
def test_a_blob_that_need_not_be_durable_waits_for_the_disk_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    store, synced, sync = SqliteStore(str(tmp_path)), set[int](), os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.add(os.fstat(fd).st_ino), sync(fd))[1])
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    data = [b"%d" % n for n in range(30)]
    digests = [store.put(d, durable=False) for d in data]
    assert not synced
    if end == "put":
        for d in data:
            store.put(d)
    else:
        store.finish(lease, "done", "") if end == "finish" else store.release(lease)
    blobs = [tmp_path / "blobs" / d[:2] / d[2:] for d in digests]
    wanted = {*blobs, *(b.parent for b in blobs), tmp_path / "blobs"}
    assert {w.stat().st_ino for w in wanted} <= synced
    synced.clear()
    store.put(data[0])
    assert not synced


def test_a_torn_mirror_line_is_ended_and_loses_nobody_else(tmp_path: Path) -> None:
    """Case I3: the next append fused with a torn line and corrupted two records."""
    (tmp_path / "journal.jsonl").write_text('{"run_id":"r","n":1}\n{"torn')
    store = SqliteStore(str(tmp_path))
    store.create("r", "{}", "t")
    store.append(store.claim("r", "me", 0, 10), entry(1))
    lines = (tmp_path / "journal.jsonl").read_text().splitlines()
    assert lines[1] == '{"torn'
    assert '"key": "k1"' in lines[2]


@pytest.mark.parametrize("change", ["update entry set payload = '{}'", "delete from entry"])
def test_entries_cannot_be_changed_even_by_hand(tmp_path: Path, change: str) -> None:
    store = SqliteStore(str(tmp_path))
    store.create("r", "{}", "t")
    store.append(store.claim("r", "me", 0, 10), entry(1))
    db = sqlite3.connect(tmp_path / "state.db")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(change)
    db.close()


def test_a_run_knows_its_last_entry(store: Store) -> None:
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    for n in (1, 2):
        store.append(lease, entry(n).model_copy(update={"digest": f"d{n}"}), durable=n == 2)
        record = store.run("r")
        assert record is not None
        assert record.head == f"d{n}"


def test_a_state_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "state.db")
    db.executescript(sqlite._FIRST)
    db.execute("insert into run(run_id, spec, status, created) values ('r', '{}', 'done', 't')")
    db.execute("insert into entry values ('r', 1, 't', 'k', 'ended', 'a', '{}', 'p', 'last')")
    db.execute("pragma user_version = 1")
    db.commit()
    db.close()
    record = SqliteStore(str(tmp_path)).run("r")
    assert record is not None
    assert record.head == "last"


def test_a_state_from_a_newer_version_is_refused_in_words(tmp_path: Path) -> None:
    SqliteStore(str(tmp_path)).close()
    db = sqlite3.connect(tmp_path / "state.db")
    db.execute("pragma user_version = 99")
    db.close()
    with pytest.raises(UsageError, match="newer referee"):
        SqliteStore(str(tmp_path))


def test_a_killed_owners_lease_ends_at_once(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        child = SqliteStore(str(tmp_path))
        child.create("r", "{}", "t")
        child.claim("r", me(), 0, 1e12)
        os._exit(0)
    os.waitpid(pid, 0)
    SqliteStore(str(tmp_path)).claim("r", me(), 1, 10)


def test_an_owner_is_alive_dead_or_unknown() -> None:
    """A process id means something in one pid namespace of one boot only."""
    mine = me()
    boot, space, started = re.findall(r"boot (\S+),|namespace (\S+),|started (\S+)\)", mine)
    assert alive(mine) is True
    assert alive(mine.replace(started[2], started[2] + "1")) is False, "the id was given to another process"
    assert alive(mine.replace(boot[0], "other-boot")) is False, "this machine has started anew"
    assert alive(mine.replace(boot[0], "other-boot").replace(" on ", " on another-")) is None
    assert alive(mine.replace(space[1], "pid:[1]")) is None, "the same id in another container is another process"
    assert alive("process 1 (started 1) on an.older.version") is None


def test_a_zombie_owns_nothing() -> None:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, me().encode())
        os._exit(0)
    owner = os.read(read, 1000).decode()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert alive(owner) is False
    os.waitpid(pid, 0)
    assert alive(owner) is False


def test_an_owner_out_of_sight_works_for_as_long_as_it_renews(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path))
    store.create("r", "{}", "t")
    elsewhere = re.sub(r"namespace \S+,", "namespace pid:[1],", me())
    now = time.time()
    store.claim("r", elsewhere, now, 30)
    assert store.runs()[0].status == "running"
    with pytest.raises(UsageError, match=r"worked on by process \d+ on \S+; wait"):
        store.claim("r", me(), now + 10, 30)
    lease = store.claim("r", elsewhere, now + 31, -60)
    assert store.runs()[0].status == "stopped"
    assert store.claim("r", me(), now + 31, 30).fence > lease.fence


def test_what_is_done_about_a_run_leaves_it_as_it_is(store: Store) -> None:
    for name, status in (("ended", "done"), ("cut off", "stopped")):
        store.create(name, "{}", "t")
        lease = store.claim(name, me(), 0, 10)
        if status == "done":
            store.finish(lease, "done", "solved")
        else:
            store.release(lease)
        second = store.claim(name, me(), 1, 10, begin=False)
        store.append(second, entry(1))
        store.release(second)
        record = store.run(name)
        assert record is not None
        assert (record.status, record.fence) == (status, 2)


def test_a_folder_that_cannot_be_made_is_the_operators_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorldFault, match="cannot be made"):
        SqliteStore(str(tmp_path / "file" / "state"))


def test_a_full_disk_is_the_operators_to_mend(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    pid = os.fork()
    if pid == 0:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        code = 1
        try:
            store = SqliteStore(str(folder))
            store.create("r", "{}", "t")
            lease = store.claim("r", "me", 0, 10)
            for n in range(1, 1_000):
                store.append(lease, entry(n, "k" * 500 + str(n)))
        except WorldFault as fault:
            code = 0 if "disk" in str(fault) or "written" in str(fault) else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    store = SqliteStore(str(folder))
    entries = store.entries("r")
    assert [e.n for e in entries] == list(range(1, len(entries) + 1))


def test_a_part_of_a_journal_is_read(store: Store) -> None:
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    assert store.last("r") == 0
    for n in range(1, 6):
        store.append(lease, entry(n))
    assert [e.n for e in store.entries("r", after=2)] == [3, 4, 5]
    assert [e.n for e in store.entries("r", after=1, most=2)] == [2, 3]
    assert store.entries("r", after=5) == ()
    assert store.last("r") == 5


def test_how_runs_stand_is_told_as_their_records_tell_it(store: Store) -> None:
    for name in ("a", "b", "c"):
        store.create(name, "{}", f"t-{name}")
    store.claim("b", me(), time.time(), 10)
    lease = store.claim("c", me(), time.time(), 10)
    store.finish(lease, "waiting", "")
    assert [(s.run_id, s.status, s.fence) for s in store.states()] == [
        (r.run_id, r.status, r.fence) for r in store.runs()
    ]
    assert {s.run_id: s.status for s in store.states()} == {"a": "stopped", "b": "running", "c": "waiting"}
