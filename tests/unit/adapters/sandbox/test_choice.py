"""Which backend is chosen, what is remembered, and what a refusal says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from referee.adapters.sandbox import choice, inside, open_sandbox, remembered
from referee.adapters.sandbox.advice import advice
from referee.adapters.sandbox.backends import ASPECTS, BACKENDS, PROBED, Backend
from referee.adapters.sandbox.choice import Examined, examine, pick
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Command, Isolation, Level


class Broken:
    """A sandbox that cannot start anything."""

    isolation = Isolation(backend="userns", level=Level.FULL)

    def run(self, command: Command) -> object:
        raise WorldFault("unshare: Operation not permitted")

    def close(self) -> None: ...


class Leaky:
    """A sandbox in name only: it hands everything to no isolation at all."""

    def __init__(self) -> None:
        from referee.adapters.sandbox.bare import BareSandbox

        self._bare = BareSandbox()

    def run(self, command: Command) -> object:
        return self._bare.run(command)

    def close(self) -> None:
        self._bare.close()


def offered(monkeypatch: pytest.MonkeyPatch, *backends: Backend) -> None:
    monkeypatch.setattr(choice, "BACKENDS", {b.name: b for b in backends})


@pytest.fixture(autouse=True)
def a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_met", {})


BARE = BACKENDS["bare"]
CANNOT_START = Backend("userns", Broken, Level.FULL)  # type: ignore[arg-type]


def seen(name: str, level: Level, usable: bool = True) -> Examined:
    return Examined(name=name, usable=usable, level=level)


def test_nothing_usable_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, CANNOT_START, Backend("bubblewrap", Broken, Level.FULL), BARE)  # type: ignore[arg-type]
    with pytest.raises(WorldFault) as refused:
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path))
    text = str(refused.value)
    for word in ("userns", "bubblewrap", "Operation not permitted", "--allow-degraded", "to mend it", "doctor"):
        assert word in text
    assert list(tmp_path.iterdir()) == []


def test_bare_is_chosen_only_on_request_and_never_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, CANNOT_START, BARE)
    for _ in range(2):
        sandbox = open_sandbox(allow_degraded=True, cache_dir=str(tmp_path))
        assert sandbox.isolation == Isolation(backend="bare", level=Level.NONE)
        sandbox.close()
        with pytest.raises(WorldFault, match="Operation not permitted"):
            open_sandbox(allow_degraded=False, cache_dir=str(tmp_path))


def test_what_isolates_in_part_needs_permission_and_comes_before_bare() -> None:
    examined = [seen("userns", Level.NONE, False), seen("landlock", Level.PARTIAL), seen("bare", Level.NONE)]
    assert pick(examined, allow_degraded=False) == ""
    assert pick(examined, allow_degraded=True) == "landlock"
    assert pick([*examined, seen("container", Level.FULL)], allow_degraded=True) == "container"
    assert pick(examined[:1], allow_degraded=True) == ""


def test_a_refusal_names_what_would_do_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, Backend("landlock", BACKENDS["landlock"].open, Level.PARTIAL))
    part = seen("landlock", Level.PARTIAL).model_copy(update={"lacks": ("there is no loopback",)})
    monkeypatch.setattr(choice, "examine", lambda backend: part)
    with pytest.raises(WorldFault, match=r"in part: there is no loopback.*\n.*with landlock"):
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path))


def test_one_backend_can_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "examine", lambda backend: seen(backend.name, backend.level))
    opened = open_sandbox(allow_degraded=False, cache_dir=str(tmp_path), only="bubblewrap")
    assert opened.isolation.backend == "bubblewrap"
    with pytest.raises(UsageError, match="no sandbox backend 'jail'; known are userns, bubblewrap"):
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path), only="jail")


def test_probes_tell_a_sandbox_that_does_not_isolate() -> None:
    """The negative probes are real: without isolation they fail, one by one."""
    examined = examine(Backend("userns", Leaky, Level.FULL))  # type: ignore[arg-type]
    assert not examined.usable
    assert examined.level is Level.NONE
    for probe in ("host_files", "host_names", "host_sockets", "protection", "processes", "privileges", "disk"):
        assert examined.probes[probe] != "ok", probe
    for probe in ("start", "loopback", "concurrency", "scratch", "modes", "wall", "memory", "cpu"):
        assert examined.probes[probe] == "ok", probe
    assert examined.isolates["files"] == examined.isolates["network"] == examined.isolates["disk"] == "none"
    assert (examined.isolates["memory"], examined.isolates["cpu"]) == ("watched", "full")


def test_a_partial_backend_may_lack_only_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = {name: "ok" for names in ASPECTS.values() for name in names} | {"start": "ok", "loopback": "refused"}
    monkeypatch.setattr(choice, "self_check", lambda sandbox: probes)
    examined = examine(BACKENDS["landlock"])
    assert (examined.usable, examined.level) == (True, Level.PARTIAL)
    assert examined.isolates["network"] == "partial"
    assert [words for words in examined.lacks if "loopback" in words]
    probes["host_files"] = "/etc/shadow of the host can be read"
    examined = examine(BACKENDS["landlock"])
    assert (examined.usable, examined.level) == (False, Level.NONE)
    assert examined.why_not == "host_files: /etc/shadow of the host can be read"


def test_every_probe_belongs_to_one_aspect() -> None:
    """A probe that no aspect knows would be measured and not shown."""
    known = sorted(name for names in ASPECTS.values() for name in names)
    own = {probe.__name__ for probe in inside.PROBES} | {"wall", "disk", "memory", "cpu", "secrecy"}
    assert known == sorted(own)
    assert set(PROBED) == set(ASPECTS)
    assert set(BACKENDS["landlock"].lacks) <= own


def test_a_finding_is_remembered_until_circumstances_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def examined(backend: Backend) -> Examined:
        calls.append(backend.name)
        return seen(backend.name, backend.level)

    monkeypatch.setattr(choice, "examine", examined)
    folder = tmp_path / "new"
    for _ in range(2):
        open_sandbox(allow_degraded=False, cache_dir=str(folder)).close()
    assert len(calls) == 1
    open_sandbox(allow_degraded=False, cache_dir=str(tmp_path / "other repository")).close()
    assert len(calls) == 1  # this process has seen it prove itself
    cache = folder / "sandbox-probes.json"
    kept = json.loads(cache.read_text())
    for text in (json.dumps({**kept, "circumstances": "x"}), json.dumps({**kept, "backends": [1]}), "not json", "[]"):
        cache.write_text(text)
        choice._met.clear()  # as in another process
        open_sandbox(allow_degraded=False, cache_dir=str(folder)).close()
    assert len(calls) == 5
    monkeypatch.setattr(remembered, "sysctls", lambda: {"user.max_user_namespaces": "0"})
    open_sandbox(allow_degraded=False, cache_dir=str(folder)).close()
    assert len(calls) == 6


def test_a_new_program_makes_a_finding_worthless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = remembered.circumstances()
    assert before == remembered.circumstances()
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert remembered.circumstances() != before


@pytest.mark.parametrize(
    ("settings", "command"),
    (
        ({"kernel.apparmor_restrict_unprivileged_userns": "1"}, "sudo sysctl -w kernel.apparmor_restrict_unprivileged"),
        ({"kernel.unprivileged_userns_clone": "0"}, "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ({"user.max_user_namespaces": "0"}, "sudo sysctl -w user.max_user_namespaces=15000"),
    ),
)
def test_advice_is_the_command_for_this_machine(settings: dict[str, str], command: str) -> None:
    assert advice("userns", settings).startswith(command)


def test_advice_for_bubblewrap_installs_it_and_its_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apt-get").write_text("")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert advice("bubblewrap", {}) == "sudo apt-get install bubblewrap"
    restricted = advice("bubblewrap", {"kernel.apparmor_restrict_unprivileged_userns": "1"})
    assert "bubblewrap && sudo" in restricted
    assert "/etc/apparmor.d/" in restricted
