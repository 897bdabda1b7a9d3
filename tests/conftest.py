"""What holds for every test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import postgres_server

# How long an example takes says how busy the machine is, not whether the property holds.
settings.register_profile("referee", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("referee")


@pytest.fixture(autouse=True)
def _same_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal the tests are started from, they see the same one."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a database on a free port; the server ends with the tests."""
    place = postgres_server.programs()
    if place is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    pytest.importorskip("psycopg")
    with postgres_server.running(place) as address:
        yield address


@pytest.fixture
def journals(postgres: str) -> str:
    """The address of a database with empty tables for journals."""
    import psycopg

    from referee.adapters.store.postgres import PostgresStore

    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("drop schema if exists referee cascade")
        db.execute("drop schema if exists dbos cascade")
    PostgresStore.migrate(postgres)
    return postgres


@pytest.fixture
def queue(journals: str) -> str:
    """The address of a database with empty tables for journals and the queue."""
    pytest.importorskip("dbos")
    from referee.adapters.engine.line import migrate

    migrate(journals)
    return journals


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In CI, say what failed when it fails: a gate that is stopped before its end has still told why."""
    if report.failed and "CI" in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        said = f"{report.longreprtext}\n{report.capstdout[-2000:]}\n{report.capstderr[-2000:]}"
        print(f"\n{report.nodeid} ({report.when}) failed:\n{said}", file=sys.__stderr__, flush=True)
