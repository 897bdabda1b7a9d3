"""From what a proposal says to the bytes it means, for the tree it was made for. Pure: the tree is only read."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Sequence

from referee.domain.edits import Misfit, replace_whole, splice
from referee.domain.errors import Rejected
from referee.domain.finding import Finding, FindingKind
from referee.domain.notices import marks
from referee.domain.patch import FileContent, Patch, patch_of
from referee.domain.paths import objection
from referee.domain.proposal import PatchProposal, ProposedFile

CHECK = "proposal"


def resolve(
    proposal: PatchProposal,
    read: Callable[[str], bytes | None],
    executable: Callable[[str], bool],
    paths: Sequence[str] = (),
    forbidden: Callable[[str], str | None] = objection,
) -> Patch:
    """The patch that `proposal` means onto the tree that `read` shows.

    `paths` are all paths of the tree, for nearest names and collisions; `forbidden` says why a path may not even be
    asked for. Raises `Rejected` with one finding per file that is unauthorised or does not fit, so that all defects
    are known at once; nothing is half applied (case G9).
    """
    contents: dict[str, FileContent | None] = {}
    findings: list[Finding] = []
    for file in proposal.files:
        if (why := forbidden(file.path)) is not None:
            findings.append(_finding(file.path, why, FindingKind.UNAUTHORISED))
            continue
        before = read(file.path)
        try:
            after = _after(file, before, read, paths)
        except Misfit as e:
            findings.append(_finding(file.path, f"{file.path}: {e}"))
            continue
        if after != before:
            content = None if after is None else FileContent(data=after, executable=_mode(file, executable))
            contents[file.path] = content
    if not findings and not contents:
        named = ", ".join(f.path for f in proposal.files)
        findings.append(_finding("", f"the proposal changes nothing: {named} would be as before"))
    if findings:
        raise Rejected(tuple(findings))
    return patch_of(contents)


def _after(
    file: ProposedFile, before: bytes | None, read: Callable[[str], bytes | None], paths: Sequence[str]
) -> bytes | None:
    if file.action == "create":
        _check_new(file.path, before, read, paths)
        after = (file.content or "").encode()
    elif before is None:
        raise Misfit(f"there is no such file to {file.action}{_nearest(file.path, paths)}")
    elif file.action == "delete":
        return None
    elif file.content is not None:
        after = replace_whole(before, file.content)
    else:
        after = splice(before, file.edits)
    if marks(after.decode(errors="replace")) > marks((before or b"").decode(errors="replace")):
        raise Misfit("the new text holds a '[referee: ... not shown]' mark; use edits of the parts you were shown")
    return after


def _check_new(path: str, before: bytes | None, read: Callable[[str], bytes | None], paths: Sequence[str]) -> None:
    if before is not None or path in paths:
        raise Misfit("the file exists already; use the action modify")
    folder = posixpath.dirname(path)
    while folder:
        if read(folder) is not None or folder in paths:
            raise Misfit(f"{folder} is a file, not a folder")
        folder = posixpath.dirname(folder)
    if any(p.startswith(path + "/") for p in paths):
        raise Misfit("this is a folder, not a file")
    # One file on macOS and Windows (case G15).
    same = next((p for p in paths if p.casefold() == path.casefold()), None)
    if same is not None:
        raise Misfit(f"{same} exists already and differs only in case")


def _mode(file: ProposedFile, executable: Callable[[str], bool]) -> bool:
    return file.action == "modify" and executable(file.path)


def _nearest(path: str, paths: Sequence[str]) -> str:
    name = posixpath.basename(path)
    same = sorted(p for p in paths if posixpath.basename(p) == name)
    close = same[:1] or difflib.get_close_matches(path, paths, n=1)
    return f"; the nearest is {close[0]}" if close else ""


def _finding(path: str, message: str, kind: FindingKind = FindingKind.UNAPPLIABLE) -> Finding:
    return Finding(kind=kind, check=CHECK, id=path, path=path, message=message)
