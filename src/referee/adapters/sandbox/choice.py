"""Which sandbox to use: the best one whose probes all pass, or a refusal that says what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from referee.adapters.sandbox import remembered
from referee.adapters.sandbox.advice import advice, sysctls
from referee.adapters.sandbox.backends import BACKENDS, PROBED, Backend, aspects
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.probe import OK, self_check
from referee.domain.errors import UsageError, WorldFault
from referee.domain.value import Value
from referee.ports import Level, Sandbox

_met: dict[tuple[str, str], Examined] = {}  # by backend and circumstances: what proved itself to this process
_UNASKED = {"usable": False, "why_not": "isolates nothing; --allow-degraded permits it"}


class Examined(Value):
    """One backend: whether it may be used, what each probe said, and what that means in a person's terms.

    `isolates` goes from an aspect, such as `files`, to `full`, `partial` or `none` (memory: `hard` or `watched`);
    `lacks` says in words what a partial backend does not do.
    """

    name: str
    usable: bool
    why_not: str = ""
    level: Level
    probes: Mapping[str, str] = {}
    isolates: Mapping[str, str] = {}
    lacks: tuple[str, ...] = ()
    advice: str = ""


class Choice(Value):
    """All backends examined, best first, and the one to use; empty if there is none."""

    backends: tuple[Examined, ...]
    chosen: str = ""


def choose(*, allow_degraded: bool, everything: bool = False, only: str = "") -> Choice:
    """Examine backends in order and stop at the first that isolates fully, unless `everything` is wanted.

    `only` names the one to look at. Bare is looked at last, and only if it may be used. What kept all its claims is not
    looked at twice by one process while nothing changes, unless `everything` is wanted.
    """
    wanted = [b for b in _named(only) if b.level is not Level.NONE or allow_degraded or everything or only]
    if everything:
        with ThreadPoolExecutor(len(wanted)) as pool:
            examined = list(pool.map(examine, wanted))
    else:
        examined = []
        for backend in wanted:
            examined.append(_examined(backend))
            if pick(examined, allow_degraded=False):
                break
    return Choice(backends=tuple(examined), chosen=pick(examined, allow_degraded=allow_degraded))


def pick(examined: Sequence[Examined], *, allow_degraded: bool) -> str:
    """The best backend that may be used; one that isolates less than fully only with `allow_degraded`. Else empty."""
    for level in (Level.FULL, Level.PARTIAL, Level.NONE):
        for each in examined:
            if each.usable and each.level is level and (allow_degraded or level is Level.FULL):
                return each.name
    return ""


def survey() -> dict[str, Any]:
    """Every backend examined now: the document of `referee doctor --json`."""
    found = choose(allow_degraded=False, everything=True)
    degraded = pick(found.backends, allow_degraded=True)
    permitted = [e if e.name != "bare" or not e.usable else e.model_copy(update=_UNASKED) for e in found.backends]
    shown = Choice(backends=tuple(permitted), chosen=found.chosen)
    return {**shown.model_dump(mode="json"), "degraded": degraded, "probed": dict(PROBED)}


def open_sandbox(*, allow_degraded: bool, cache_dir: str, only: str = "", outside: Outside | None = None) -> Sandbox:
    """The best sandbox this machine offers; the finding is kept in `cache_dir` until something changes.

    Raises `WorldFault` if nothing isolates fully and `allow_degraded` is not given, `UsageError` if `only` names no
    backend. What was chosen is in `Sandbox.isolation`: a caller says so loudly if that is not full.
    `outside` is what commands with `egress` reach, the real network unless it is given.
    """
    kept = [] if only else _kept(cache_dir)
    chosen = pick([e for e in kept if e.level is not Level.NONE], allow_degraded=allow_degraded)
    if not chosen:
        choice = choose(allow_degraded=allow_degraded, only=only)
        chosen = choice.chosen
        if not chosen:
            raise WorldFault(_refusal(choice.backends))
        if not only:
            remembered.keep(cache_dir, [e.model_dump(mode="json") for e in choice.backends])
    backend = BACKENDS[chosen]
    return backend.open() if backend.reaching is None else backend.reaching(outside or Outside())


def _kept(cache_dir: str) -> list[Examined]:
    with contextlib.suppress(ValueError):  # which costs only the seconds that probing takes
        return [Examined.model_validate(e) for e in remembered.recall(cache_dir)]
    return []


def _named(only: str) -> list[Backend]:
    if only and only not in BACKENDS:
        raise UsageError(f"there is no sandbox backend {only!r}; known are {', '.join(BACKENDS)}")
    return [BACKENDS[only]] if only else list(BACKENDS.values())


def _examined(backend: Backend) -> Examined:
    key = (backend.name, remembered.circumstances())
    found = _met.get(key) or examine(backend)
    if found.usable and found.level is Level.FULL:
        _met[key] = found
    return found


def examine(backend: Backend) -> Examined:
    """Run all probes in `backend`. Usable is what keeps every claim it makes."""
    sandbox = backend.open()
    try:
        probes = self_check(sandbox)
    finally:
        sandbox.close()
    bare = backend.level is Level.NONE
    wrong = {probe: said for probe, said in probes.items() if said != OK}
    broken = {} if bare and probes["start"] == OK else {p: s for p, s in wrong.items() if p not in backend.lacks}
    return Examined(
        name=backend.name,
        usable=not broken,
        why_not="; ".join(f"{probe}: {said}" for probe, said in broken.items()),
        level=backend.level if not broken else Level.NONE,
        probes=probes,
        isolates=aspects(probes, backend.memory),
        lacks=tuple(words for probe, words in backend.lacks.items() if probe in wrong),
        advice=advice(backend.name, sysctls()) if broken else "",
    )


def _refusal(examined: Sequence[Examined]) -> str:
    lines = ["nothing on this machine isolates commands well enough:"]
    for each in examined:
        part = "isolates nothing" if each.level is Level.NONE else f"isolates only in part: {'; '.join(each.lacks)}"
        lines.append(f"  {each.name}: {each.why_not or part}")
        lines += [f"    to mend it: {each.advice}"] if each.advice else []
    best = pick([e for e in examined if e.level is not Level.NONE], allow_degraded=True)
    with_what = (
        f"with {best}, which isolates in part" if best else "without isolation; do that only with code you trust"
    )
    lines.append(f"--allow-degraded runs commands {with_what}; 'referee doctor' shows all that was measured")
    return "\n".join(lines)
