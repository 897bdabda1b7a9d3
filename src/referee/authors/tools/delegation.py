"""Parts of the work done by other agents, each on a branch: own context, own copy, a share of the budget (H7)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from referee.actions.step import Gauge
from referee.actions.tree import Apply
from referee.authors.author import Author
from referee.domain.brief import Brief, Offer
from referee.domain.cost import Budget, BudgetView
from referee.domain.errors import Exhausted
from referee.domain.observation import Observation
from referee.domain.patch import Patch
from referee.domain.task import Task
from referee.kernel.run import Run
from referee.tools.room import Part, Room

SHARE = 0.6  # of what is left, for all parts together
CONCLUSION_CHARS = 6_000


class Hired(Author, Protocol):
    """An author that counts its requests to models."""

    @property
    def ordinal(self) -> int: ...


Hire = Callable[[int, int, int], Hired]
"""The author of part n of how many, whose requests are counted from the given ordinal on."""


def delegated(room: Room, parts: Sequence[Part], hire: Hire) -> Observation:
    """What the parts came to. Those that changed the same file are a conflict: shown, and the later one not taken.

    Raises `Exhausted` if it is the whole run's budget that ended.
    """
    run = room.run
    view = run.perform(Gauge(view=run.view))
    lanes = [run.branch(f"agent.{n}", share(view, len(parts))) for n in range(1, len(parts) + 1)]
    hired = [hire(n, len(parts), room.ordinal) for n in range(1, len(parts) + 1)]
    offers = _Crew(hired, lanes, [_brief(room, p) for p in parts]).work()
    tree, taken, said = room.tree, dict[str, int](), list[str]()
    for n, (part, offer) in enumerate(zip(parts, offers, strict=True), start=1):
        patch = offer.patch or Patch()
        fate, clashing = _fate(part, patch, taken)
        if patch.changes and part.write and not clashing:
            tree = run.perform(Apply(base=tree, patch=patch))
            taken.update(dict.fromkeys(patch.touched, n))
        words = (offer.answer or offer.note).strip()[:CONCLUSION_CHARS]
        said.append(f"Agent {n}: {words}\n[{fate}]")
    last = max(author.ordinal for author in hired)
    return Observation(text="\n\n".join(said), tree=tree if tree != room.tree else "", ordinal=last)


def share(view: BudgetView, parts: int) -> Budget:
    """An equal part of what may be given away; the clock is the run's own."""
    b, s = view.budget, view.spent
    return Budget(
        max_steps=1,
        timeout=s.seconds + max(1.0, view.seconds_left * SHARE),
        max_tokens=int((b.max_tokens - s.tokens) * SHARE / parts),
        max_cost_usd=max(b.max_cost_usd - s.usd, b.max_cost_usd * 0) * int(SHARE * 100) / 100 / parts,
    )


def _brief(room: Room, part: Part) -> Brief:
    protection = room.place.protection
    known = f"\n\nWhat you must know:\n{part.context}" if part.context else ""
    text = f"{part.task}{known}\n\nYou do one part of a larger task. End with your conclusions in words."
    return Brief(
        task=Task(text=text), base=room.tree, targets=(), feedback="", protected=protection.protected,
        source=protection.source,
    )  # fmt: skip


def _fate(part: Part, patch: Patch, taken: dict[str, int]) -> tuple[str, bool]:
    if not patch.changes:
        return "no file was changed", False
    paths = ", ".join(patch.touched)
    if not part.write:
        return f"its changes of {paths} were dropped, since they were not asked for", False
    clashing = [f"{p} (agent {taken[p]})" for p in patch.touched if p in taken]
    if clashing:
        return f"conflict: nothing of it was taken, for others changed {', '.join(clashing)}; it changed {paths}", True
    return f"taken over: {paths}", False


@dataclass
class _Crew:
    authors: Sequence[Author]
    lanes: Sequence[Run]
    briefs: Sequence[Brief]
    done: dict[int, Offer | BaseException] = field(default_factory=dict)

    def work(self) -> list[Offer]:
        """Let all work at once and wait for all; what one raises that is not its own end is raised."""
        threads = [
            threading.Thread(target=self._one, args=(n,), name=f"agent {n + 1}", daemon=True)
            for n in range(len(self.lanes))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:  # the person stops the run: nobody goes on behind its back
            for lane in self.lanes:
                lane.withdraw()
            raise
        for how in self.done.values():
            if isinstance(how, BaseException):
                raise how
        return [offer for _, offer in sorted(self.done.items()) if isinstance(offer, Offer)]

    def _one(self, n: int) -> None:
        author = self.authors[n]
        try:
            self.done[n] = author.propose(self.lanes[n], self.briefs[n])
        except Exhausted as spent:
            self.done[n] = Offer(author=author.name, note=f"it did not come to its end: {spent}")
        except BaseException as wrong:  # handed to the thread that waits, which decides what it means
            self.done[n] = wrong
