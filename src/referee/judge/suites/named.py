"""Which of the targets are tests of other languages, and which suite they are of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from referee.domain.errors import UsageError
from referee.judge.project import Project
from referee.judge.suites.suite import Suite


def divided(project: Project, targets: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Targets by the name of the suite that claims them, and the others.

    Of several suites that could, the one whose folder is nearest counts; Rust's and Go's names may be of any.
    """
    claimed: dict[str, tuple[str, ...]] = {}
    others: list[str] = []
    for target in (t.strip() for t in targets):
        suites = [s for s in project.others.suites if s.claims(target)]
        if not suites:
            others.append(target)
        for suite in suites[:1] if len({s.kind for s in suites}) > 1 else suites:
            claimed[suite.name] = (*claimed.get(suite.name, ()), target)
    return claimed, tuple(others)


def meant(suite: Suite, targets: Iterable[str], outcomes: Mapping[str, str], loaded: bool) -> tuple[str, ...]:
    """The tests that the targets name. Raises `UsageError` for one that names none, unless something did not load."""
    found: list[str] = []
    for target in targets:
        ids = [t for t in outcomes if suite.names(target, t)]
        if not ids and loaded:
            near = difflib.get_close_matches(target, list(outcomes), 3, 0.4)
            hint = f"; the nearest are {', '.join(near)}" if near else ""
            raise UsageError(f"there is no test {target}{hint}")
        found += ids
    return tuple(dict.fromkeys(found))
