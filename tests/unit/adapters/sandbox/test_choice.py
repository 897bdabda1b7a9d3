"""Which backend is chosen, what is remembered, and what a refusal says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.adapters.sandbox import choice, open_sandbox
from referee.adapters.sandbox.choice import Choice, Examined
from referee.domain.errors import WorldFault
from referee.ports import Command, Isolation, Level, Sandbox


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


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(name: str) -> Sandbox | Broken:
        return original(name) if name == "bare" else Broken()

    original = choice._open
    monkeypatch.setattr(choice, "_open", opened)


@pytest.mark.usefixtures("broken")
def test_nothing_usable_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(WorldFault) as refused:
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path))
    text = str(refused.value)
    for word in ("userns", "bubblewrap", "Operation not permitted", "--allow-degraded", "install"):
        assert word in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("broken")
def test_degraded_is_chosen_only_on_request_and_never_remembered(tmp_path: Path) -> None:
    sandbox = open_sandbox(allow_degraded=True, cache_dir=str(tmp_path))
    assert sandbox.isolation == Isolation(backend="bare", level=Level.NONE)
    sandbox.close()
    assert list(tmp_path.iterdir()) == []


def test_probes_tell_a_sandbox_that_does_not_isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative probes are real: without isolation they fail, one by one."""
    monkeypatch.setattr(choice, "_open", lambda name: Leaky())
    examined = choice._examine("userns")
    assert not examined.usable
    for probe in ("host_files", "host_sockets", "protection", "processes", "privileges", "disk"):
        assert examined.probes[probe] != "ok", probe
    for probe in ("start", "loopback", "concurrency", "wall"):
        assert examined.probes[probe] == "ok", probe


def test_a_finding_is_remembered_until_circumstances_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examined = Examined(name="userns", usable=True, level=Level.FULL)
    calls: list[bool] = []

    def chosen(*, allow_degraded: bool) -> Choice:
        calls.append(allow_degraded)
        return Choice(backends=(examined,), chosen="userns")

    monkeypatch.setattr(choice, "choose", chosen)
    for _ in range(2):
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path / "new")).close()
    assert len(calls) == 1
    cache = tmp_path / "new" / "sandbox-probes.json"
    kept = json.loads(cache.read_text())
    for text in (json.dumps({**kept, "circumstances": "another boot"}), "not json", "[]"):
        cache.write_text(text)
        open_sandbox(allow_degraded=False, cache_dir=str(tmp_path / "new")).close()
    assert len(calls) == 4
