"""A task as files: what the player is given, and what nobody shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.domain.errors import UsageError
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.protection import Protection
from referee.domain.value import Value
from referee.evals.functions import put_back, without
from referee.evals.task import BenchTask

Files = Mapping[str, FileContent]
_GUARD = Protection()


class Scene(Value):
    """`right` is the tree with the fix and all its tests; `wrong` leads from it to the source before the fix.

    `visible` and `hidden` are the tests that fail with `wrong`: the player is told of the visible ones, and the
    functions of the hidden ones are cut out of its files. Where one function is all there is, nothing is hidden.
    """

    task: BenchTask
    right: Files
    wrong: Patch
    visible: tuple[str, ...]
    hidden: tuple[str, ...]

    @property
    def given(self) -> dict[str, FileContent]:
        """The files a player starts from."""
        files = dict(self.right)
        for change in self.wrong.changes:
            if change.after is None:
                files.pop(change.path, None)
            else:
                files[change.path] = change.after
        for path, names in _by_file(self.hidden).items():
            content = files[path]
            cut = without(content.data.decode("utf-8", "surrogateescape"), names)
            files[path] = content.model_copy(update={"data": cut.encode("utf-8", "surrogateescape")})
        return files

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files that hold the tests which decide."""
        return tuple(dict.fromkeys(t.partition("::")[0] for t in self.task.f2p))

    @property
    def known(self) -> dict[str, FileContent | None]:
        """The right content of every file that is wrong; None for one that should not be there."""
        return {c.path: self.right.get(c.path) for c in self.wrong.changes}


def between(right: Files, wrong: Files, paths: Sequence[str]) -> Patch:
    """What makes `paths` of the right tree as they are in the wrong one."""
    return patch_of({p: wrong.get(p) for p in paths if wrong.get(p) != right.get(p)})


def guarded(path: str) -> bool:
    """Whether a path is a test's or the judge's."""
    return _GUARD.guarded(path)


def scene(task: BenchTask, right: Files, before: Files) -> Scene:
    """The scene of a task from the trees with and without its fix. Raises `UsageError` if they do not fit it."""
    if task.archives:
        wrong = patch_of({task.file: _older(task, right, before)})
    else:
        changed = task.src or sorted(p for p in {*right, *before} if right.get(p) != before.get(p) and not guarded(p))
        wrong = between(right, before, changed)
    if not wrong.changes:
        raise UsageError(f"task {task.id}: its source is the same with and without the fix")
    visible, hidden = halves(task.f2p)
    return Scene(task=task, right=right, wrong=wrong, visible=visible, hidden=hidden)


def halves(tests: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tests to show and tests to hide: every second function, with all its parameters."""
    names = sorted({_function(t) for t in tests})
    hidden = set(names[1::2])
    return tuple(t for t in tests if _function(t) not in hidden), tuple(t for t in tests if _function(t) in hidden)


def _function(test: str) -> str:
    return test.partition("[")[0]


def _by_file(tests: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for test in tests:
        path, *names = _function(test).split("::")
        found.setdefault(path, set()).add(".".join(names))
    return found


def _older(task: BenchTask, right: Files, before: Files) -> FileContent:
    if task.file not in right or task.file not in before:
        raise UsageError(f"task {task.id}: {task.file} is not in both releases")
    new, old = (files[task.file].data.decode("utf-8", "surrogateescape") for files in (right, before))
    text = put_back(old, new, task.func, task.add)
    if text is None:
        raise UsageError(f"task {task.id}: {task.func} of {task.file} is not one function that the releases differ in")
    return right[task.file].model_copy(update={"data": text.encode("utf-8", "surrogateescape")})
