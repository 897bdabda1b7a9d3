"""A disk that fails at any call while something is recorded: whole or absent, a sentence, and nothing left over."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import KINDS, NAMES, SHORT, Disk

from referee.adapters.store import SqliteStore
from referee.api.recorder import write_whole
from referee.domain.errors import WorldFault
from referee.ports import Entry, Kind

DATA = b"d" * 10_000


def each_call(disk_of: Callable[[int], Disk], act: Callable[[], object]) -> int:
    """Act once per call, which then fails; how often it was refused in words."""
    n = refused = 0
    while True:
        n += 1
        disk = disk_of(n)
        try:
            with disk.in_place():
                act()
        except WorldFault as said:
            assert said.exit_code == 69 and str(said)
            refused += 1
        if not disk.failed:
            return refused


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("kind", KINDS, ids=NAMES.get)
def test_a_blob_is_whole_or_absent(tmp_path: Path, kind: int, lasting: bool) -> None:
    store = SqliteStore(str(tmp_path))

    def put() -> None:
        store.put(os.urandom(4) + DATA)

    assert each_call(lambda n: Disk(n, kind, lasting=lasting), put) >= 1
    for path in (p for p in (tmp_path / "blobs").rglob("*") if p.is_file() and not p.name.startswith(".referee-")):
        assert store.get(path.parent.name + path.name)
    if not lasting:
        assert not list((tmp_path / "blobs").rglob(".referee-*"))
    assert store.get(store.put(DATA)) == DATA


@pytest.mark.parametrize("kind", KINDS, ids=NAMES.get)
def test_a_report_is_the_old_or_the_new_one(tmp_path: Path, kind: int) -> None:
    report = tmp_path / "r.json"
    report.write_bytes(b"old")
    for n in range(1, 8):
        disk = Disk(n, kind)
        try:
            with disk.in_place():
                write_whole(str(report), b"new")
        except WorldFault:
            # Where only the folder could not be synced the new one stands, but nobody knows whether for good.
            assert report.read_bytes() == b"old" or (report.read_bytes(), disk.failed) == (b"new", ["fsync"])
        else:
            assert report.read_bytes() == b"new"
        report.write_bytes(b"old")
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_the_mirror_goes_on_after_a_short_write(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path))
    store.create("r", "{}", "t")
    lease = store.claim("r", "me", 0, 10)
    with Disk(1, SHORT, lasting=True).in_place():
        store.append(lease, Entry(n=1, at="t", key="k", kind=Kind.NOTED, payload=json.dumps({"text": "t" * 500})))
    [line] = (tmp_path / "journal.jsonl").read_text().splitlines()
    assert json.loads(line)["key"] == "k"
