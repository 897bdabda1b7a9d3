"""Make tasks: changes whose tests fail without them and pass with them, seen three times in the sandbox."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from referee.adapters.archives import release
from referee.adapters.git.commits import CommitFacts, Commits
from referee.api.bench.ground import Ground, Heard
from referee.domain.errors import UsageError
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.value import Value
from referee.evals.functions import counted, differing, put_back
from referee.evals.issues import Issue, read_issues
from referee.evals.scene import Files, between, guarded
from referee.evals.task import BenchTask

TIMES = 3
Tell = Callable[[str], None]


class Mining(Value):
    """What to look through: a clone, its newest `most` commits or those of an `issues` file; or two `releases`.

    For releases, as `OLD..NEW`, `repo` is the package's name and `archives` the folder with its source archives.
    """

    repo: str
    most: int = 200
    issues: str = ""
    releases: str = ""
    archives: str = "."


def mine(wanted: Mining, tell: Tell) -> Iterator[BenchTask]:
    """The tasks that hold, as they are found; `tell` hears what is looked at and why it is no task.

    Raises `UsageError` if there is nothing to look through.
    """
    if wanted.releases:
        return _of_releases(wanted, tell)
    commits = Commits(wanted.repo)
    key = Path(wanted.repo).resolve().name.removesuffix(".git")
    if wanted.issues:
        chosen = ((commits.facts(i.fix), i) for i in read_issues(wanted.issues))
    else:
        chosen = ((facts, Issue(fix=facts.commit)) for facts in commits.recent(wanted.most))
    return _of_commits(commits, chosen, key, tell)


def _of_commits(
    commits: Commits, chosen: Iterator[tuple[CommitFacts, Issue]], key: str, tell: Tell
) -> Iterator[BenchTask]:
    for facts, issue in chosen:
        changed = [p for p in commits.changed(facts) if p.endswith(".py")]
        tests = tuple(p for p in changed if guarded(p) and _holds_tests(p))
        source = tuple(p for p in changed if not guarded(p))
        if not tests or not source:
            tell(f"{facts.commit[:10]}: changes no test and source together")
            continue
        after, before = commits.tree(facts.commit), commits.tree(facts.parent)
        there = tuple(p for p in tests if p in after)
        drawn = BenchTask(
            id=issue.id, text=issue.text or facts.subject, repo=issue.repo, key=key, parent=facts.parent,
            fix=facts.commit, date=facts.date, src=source, tests=there, f2p=("?",),
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="referee-mine-") as scratch:
            try:
                with Ground(os.path.join(os.path.realpath(scratch), key), after) as ground:
                    found = _verified(ground, between(after, before, source), there, tell, facts.commit[:10])
                    suite = ground.tests(Patch()) if found else Heard()
            except UsageError as wrong:
                tell(f"{facts.commit[:10]}: {wrong}")
                continue
        if found is not None:
            yield drawn.model_copy(update={**found, **_size(after, before, source), **_suite(suite)})


def _holds_tests(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test") or name.endswith("_test.py")


def _verified(
    ground: Ground, wrong: Patch, ids: tuple[str, ...], tell: Tell, name: str, right: Heard | None = None
) -> dict[str, object] | None:
    """What fails without the change and passes with it, alike each time; None, and why, if nothing does."""
    first = ground.tests(wrong, ids)
    with_fix = right or ground.tests(Patch(), ids)
    passing = {t for t, o in with_fix.outcomes.items() if o == "passed"}
    failing = {t for t in passing if first.outcomes.get(t, "missing") not in ("passed", "skipped", "xfailed")}
    if not failing:
        tell(f"{name}: no test fails without the change and passes with it")
        return None
    files = tuple(sorted({t.partition("::")[0] for t in failing}))
    for _ in range(TIMES - 1):
        without, again = ground.tests(wrong, files), ground.tests(Patch(), files)
        failing = {t for t in failing if without.outcomes.get(t) == first.outcomes.get(t)}
        failing = {t for t in failing if again.outcomes.get(t) == "passed"}
    if not failing:
        tell(f"{name}: its tests do not end alike {TIMES} times")
        return None
    stayed = sum(first.outcomes.get(t) == "passed" for t in passing)
    both = sum(o == "failed" and first.outcomes.get(t) == "failed" for t, o in with_fix.outcomes.items())
    tell(f"{name}: a task, {len(failing)} tests fail without the change")
    seconds = round(with_fix.seconds, 2)
    tests = tuple(sorted(failing))
    return {"f2p": tests, "n_f2p": len(tests), "n_p2p": stayed, "fail_both": both, "t_files": seconds}


def _size(after: Files, before: Files, paths: tuple[str, ...]) -> dict[str, object]:
    """How much the change is, over all its source files."""
    sizes = [counted(_text(before.get(p)), _text(after.get(p))) for p in paths]
    add, taken, hunks = (sum(s[n] for s in sizes) for n in range(3))
    return {"add": add, "del_": taken, "hunks": hunks, "lines": max(add, taken)}


def _text(content: FileContent | None) -> str:
    return content.data.decode("utf-8", "replace") if content else ""


def _suite(heard: Heard) -> dict[str, object]:
    return {"suite_tests": len(heard.outcomes), "suite_cpu": round(heard.seconds, 2)}


def _of_releases(wanted: Mining, tell: Tell) -> Iterator[BenchTask]:
    """One function of the newer release at a time, as it was in the older one, under the newer one's tests."""
    old, dots, new = wanted.releases.partition("..")
    if not (old and dots and new):
        raise UsageError(f"{wanted.releases!r} does not name two releases; write OLD..NEW, for example 8.5.0..8.5.1")
    before, after = (release(wanted.archives, wanted.repo, v) for v in (old, new))
    with tempfile.TemporaryDirectory(prefix="referee-mine-") as scratch:
        yield from _functions(os.path.join(os.path.realpath(scratch), wanted.repo), wanted, (before, after), tell)


def _functions(folder: str, wanted: Mining, releases: tuple[Files, Files], tell: Tell) -> Iterator[BenchTask]:
    before, after = releases
    old, _, new = wanted.releases.partition("..")
    with Ground(folder, after) as ground:
        right = ground.tests(Patch())
        tell(f"{wanted.repo} {new}: {len(right.outcomes)} tests in {right.seconds:.1f} s")
        for path, name, wrong in _put_back(before, after, tell):
            found = _verified(ground, wrong, (), tell, f"{path} {name}", right)
            if found is None:
                continue
            size = _size(after, {path: wrong.changes[0].after or after[path]}, (path,))
            told = {"pkg": wanted.repo, "old": old, "fixed": new, "file": path, "func": name}
            yield BenchTask.model_validate({**found, **_suite(right), **told, **size})


def _put_back(
    before: Mapping[str, FileContent], after: Mapping[str, FileContent], tell: Tell
) -> Iterator[tuple[str, str, Patch]]:
    for path in sorted(p for p in after if p.endswith(".py") and not guarded(p) and p in before):
        old, new = _text(before[path]), _text(after[path])
        try:
            names = list(differing(old, new)) if old != new else []
        except SyntaxError as wrong:
            tell(f"{path}: {wrong}")
            continue
        for name in names:
            text = put_back(old, new, name)
            if text is not None:
                content = after[path].model_copy(update={"data": text.encode()})
                yield path, name, patch_of({path: content})
