"""Every kind of repository that the matrix stands in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import exact_repositories as made
from exact_subjects import Style


def _nothing(root: bytes) -> None:
    """Where nothing is left to do."""


class Setting(NamedTuple):
    """`make` builds it, `finish` comes after the subjects are arranged, `refuses` says why no run may start.

    `beside` are paths outside the subjects that a patch may name, each with what must become of it.
    """

    name: str
    make: made.Maker
    style: Style = Style()
    finish: Callable[[bytes], None] = _nothing
    refuses: str = ""
    beside: tuple[tuple[bytes, str], ...] = ()
    read_only: bool = False


CRLF = Style(newline=b"\r\n")
CASE = Style(prefix=b"S-Case-")
INSIDE, WRITABLE, REFUSED = "rejected", "landed", "refused"
SETTINGS = (
    Setting("plain", made.plain(), beside=((b"deep/er/file.txt", WRITABLE), (b"brand/new/file.txt", WRITABLE))),
    Setting("autocrlf", made.plain(style=CRLF, attributes=b"* text=auto\n", core__autocrlf="true"), CRLF),
    Setting("eol", made.plain(style=CRLF, attributes=b"*.txt text eol=lf\n", core__safecrlf="false"), CRLF),
    Setting(
        "filters",
        made.plain(
            attributes=b"*.txt filter=up ident\n*.ign working-tree-encoding=ISO-8859-1\n",
            filter__up__clean="tr a-z A-Z",
            filter__up__smudge="tr A-Z a-z",
        ),
    ),
    Setting(
        "lfs",
        made.plain(
            attributes=b"*.txt filter=lfs diff=lfs merge=lfs -text\n",
            filter__lfs__clean="cat",
            filter__lfs__smudge="exit 1",
            filter__lfs__required="true",
        ),
    ),
    Setting("latin names", made.plain(style=Style(prefix=b"s-\xe9\xff-")), Style(prefix=b"s-\xe9\xff-")),
    Setting("newline names", made.plain(style=Style(prefix=b"-s\n\t\"'\\ ")), Style(prefix=b"-s\n\t\"'\\ ")),
    Setting("ignorecase", made.plain(style=CASE, core__ignorecase="true"), CASE),
    Setting("blind to modes and links", made.plain(core__fileMode="false", core__symlinks="false")),
    Setting("huge file", made.huge, beside=((b"huge.bin", "conflict"), (b"huge.ign", "conflict"))),
    Setting("empty folder", made.hollow, beside=((b"hollow/inner/new.txt", WRITABLE), (b"hollow/x/y.txt", WRITABLE))),
    Setting("nested repository", made.nested, beside=((b"inner/mine.txt", INSIDE), (b"inner/new.txt", INSIDE))),
    Setting("submodule", made.submodule, beside=((b"vendor/lib.txt", INSIDE), (b"vendor/new.txt", INSIDE))),
    Setting("linked worktree", made.worktree),
    Setting("sparse checkout", made.sparse, beside=((b"far/one.txt", WRITABLE), (b"far/two.txt", WRITABLE))),
    Setting("shallow clone", made.shallow),
    Setting("separate git folder", made.separate),
    Setting("split index", made.plain(core__splitIndex="true", core__untrackedCache="true")),
    Setting("sha256", made.plain("--object-format=sha256")),
    Setting("no commits", made.uncommitted),
    Setting("detached head", made.detached),
    Setting("merge", made.during("merge", "other"), refuses="git merge --abort"),
    Setting("rebase", made.during("rebase", "other"), refuses="git rebase --abort"),
    Setting("cherry-pick", made.during("cherry-pick", "other"), refuses="git cherry-pick --abort"),
    Setting("read-only", made.plain(), finish=made.read_only, beside=((b"deep/er/file.txt", REFUSED),), read_only=True),
    Setting("odd permissions", made.plain(), finish=made.attributes_set, beside=((b"deep/new/file.txt", WRITABLE),)),
    Setting("other owner", made.plain(), finish=made.given_away),
)
