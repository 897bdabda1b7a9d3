"""From what an agent left in its copy of the repository to a patch under the rules of every proposal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.value import Value

CHECK = "agent"
MOST_FILES = 100
# What programs leave behind, wherever they run: neither a change nor a trespass.
_LITTER = (
    "__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage", ".aider*",
    ".claude/", ".codex/", ".gemini/", ".opencode/", "*.orig", "*.rej", "*.swp", ".DS_Store",
)  # fmt: skip


class Line(Value):
    """One line from the inside: a changed path (new content, `gone`, or no regular file), or how the agent ended."""

    path: str = ""
    data: bytes | None = None
    executable: bool = False
    gone: bool = False
    special: bool = False
    over: bool = False
    exit: int | None = None
    failed: str = ""


class Work(Value):
    """What an agent did: its patch, and what of it was undone, one finding each. `ended` says how, if badly.

    `scratch` is what it did to files that git ignores; it is no part of the proposal.
    """

    patch: Patch = Patch()
    scratch: Patch = Patch()
    undone: tuple[Finding, ...] = ()
    ended: str = ""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The tree an agent worked on, and `objection`, which says why a path may not be changed."""

    paths: frozenset[str]
    read: Callable[[str], bytes | None]
    executable: Callable[[str], bool]
    objection: Callable[[str], str | None]


def reported(channel: bytes, tree: Tree) -> Work:
    """The work in what the inside reported. Raises `Rejected` for what is no report, or too much for a proposal."""
    lines = lines_of(channel)
    if any(line.over for line in lines):
        raise Rejected((_finding("", "the changed files are too large together; change less"),))
    done = work(lines, tree)
    if len(done.patch.changes) > MOST_FILES:
        raise Rejected((_finding("", f"{len(done.patch.changes)} files are changed; at most {MOST_FILES} may be"),))
    return done


def work(lines: Sequence[Line], tree: Tree) -> Work:
    """What the lines come to under the rules of every proposal. What was too large to be reported is left out."""
    ignored = _Ignored(tree)
    contents: dict[str, FileContent | None] = {}
    scratch: dict[str, FileContent | None] = {}
    undone: list[Finding] = []
    for line in lines:
        path = line.path
        if not path or line.over or _same(line, tree):
            continue
        if path not in tree.paths and ignored(path):
            if not line.special and not ignored.litter(path):
                scratch[path] = _content(line)
            continue
        why = tree.objection(path)
        if why is not None or line.special:
            kind = FindingKind.UNAUTHORISED if why else FindingKind.UNAPPLIABLE
            reason = why or "only regular files are taken"
            undone.append(_finding(path, f"the change of {path} was undone: {reason}", kind))
            continue
        contents[path] = _content(line)
    return Work(patch=patch_of(contents), scratch=patch_of(scratch), undone=tuple(undone), ended=_ended(lines))


def _content(line: Line) -> FileContent | None:
    return None if line.data is None else FileContent(data=line.data, executable=line.executable)


def lines_of(channel: bytes) -> list[Line]:
    """The lines of a report. Raises `Rejected` for what is none."""
    try:
        return [Line.model_validate_json(line) for line in channel.splitlines()]
    except ValidationError:
        raise Rejected((_finding("", "what came back from the sandbox is no report of changed files"),)) from None


def _ended(lines: Sequence[Line]) -> str:
    last = lines[-1] if lines and not lines[-1].path else None
    if last is None:
        return "it did not come to an end"
    if last.failed:
        return last.failed
    return "its time ended" if last.exit is None else f"it ended with exit code {last.exit}" if last.exit else ""


def _same(line: Line, tree: Tree) -> bool:
    """Whether the file was only touched."""
    if line.special:
        return False
    if line.data is None:
        return line.path not in tree.paths
    return tree.read(line.path) == line.data and tree.executable(line.path) == line.executable


def _finding(path: str, message: str, kind: FindingKind = FindingKind.UNAPPLIABLE) -> Finding:
    return Finding(kind=kind, check=CHECK, id=path, path=path, rule="agent", message=message)


class _Ignored:
    """What the repository's own .gitignore files, and programs' habits, say is no part of it."""

    def __init__(self, tree: Tree) -> None:
        files = sorted((p for p in tree.paths if p.rpartition("/")[2] == ".gitignore"), key=lambda p: -p.count("/"))
        self._specs = [(p.rpartition("/")[0], _spec((tree.read(p) or b"").decode(errors="replace"))) for p in files]
        self._litter = _spec("\n".join(_LITTER))

    def litter(self, path: str) -> bool:
        """Whether `path` is what programs leave behind wherever they run."""
        return bool(self._litter.match_file(path))

    def __call__(self, path: str) -> bool:
        """Whether git would not show `path`; the nearest .gitignore that has an opinion decides."""
        if self.litter(path):
            return True
        for folder, spec in self._specs:
            if folder and not path.startswith(folder + "/"):
                continue
            said = spec.check_file(path[len(folder) + 1 :] if folder else path).include
            if said is not None:
                return bool(said)
        return False


def _spec(text: str) -> Any:
    from pathspec import GitIgnoreSpec  # slow to load, and rarely needed

    return GitIgnoreSpec.from_lines(text.splitlines())
