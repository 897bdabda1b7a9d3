"""Whose file is this: the code under test's, the tests', the judge's, or somebody else's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_JUDGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/"
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + "/"
_THROUGH = (_STANDARD + "unittest/", _STANDARD + "contextlib.py")  # what pytest reports sub-tests through
_SECRETS = ("/mem", "/environ", "/maps", "/syscall")
Ask = Callable[[str], bool]


class Territory(NamedTuple):
    """Questions about files by absolute path.

    `inside` the repository; a protected `test` of it; `suspect` is code under test; `touched` by the patch;
    `library` is nobody's to suspect (installed, standard, the judge's, a test); `reporting` may be on the stack of
    a report; `forbidden` is none of the code under test's business, and `disguised` is such a file by another name;
    `posing` as such a file gives no right.
    """

    inside: Ask
    test: Ask
    suspect: Ask
    touched: Ask
    library: Ask
    reporting: Ask
    forbidden: Ask
    disguised: Ask
    posing: Ask
    relative: Callable[[str], str]


def _disguised(folders: tuple[str, ...], files: frozenset[str]) -> Ask:  # noqa: C901 - three short closures
    """Whether a name leads to a protected test or into /proc by links, `..` or a changed working folder."""
    stat, scan, fault, known = os.stat, os.scandir, OSError, {}

    def learn(path: str) -> None:
        facts = stat(path)
        known[facts.st_dev, facts.st_ino] = path

    def below(folder: str) -> None:
        for entry in scan(folder):
            if entry.is_dir(follow_symlinks=False):
                below(entry.path)
            elif entry.path.endswith(".py"):
                learn(entry.path)

    def disguised(file: str) -> bool:
        try:
            facts = stat(file)
            if not known:  # only asked about the code under test's own openings, which most runs have none of
                known[-1, -1] = ""
                process = stat("/proc").st_dev
                known[process, -1] = "/proc/"
                for path in files:
                    learn(path)
                for path in folders:
                    below(path)
        except fault:
            return False
        if (facts.st_dev, -1) in known:
            return not file.startswith("/proc/")
        return (facts.st_dev, facts.st_ino) in known

    return disguised


def survey(plan: Mapping[str, Any]) -> Territory:  # noqa: C901 - eight one-line questions
    """Fresh answers from a plan. They are closures over strings: no attribute of them can be replaced."""
    root = plan["root"] + "/"
    others = tuple(p + "/" for p in (sys.prefix, *plan["outside"]) if (p + "/").startswith(root))
    folders, files = tuple(root + p + "/" for p in plan["tests"]), frozenset(root + p for p in plan["tests"])
    written = frozenset(root + p for p in plan["touched"])
    judge, secrets, through, standard = _JUDGE, _SECRETS, _THROUGH, _STANDARD
    # Only what is here before the code under test runs; a folder it makes later is not on the list.
    paths = (os.path.abspath(p) + "/" for p in sys.path if p and os.path.isdir(p))
    installed = tuple(p for p in paths if not p.startswith(root) or p.startswith(others))

    def inside(file: str) -> bool:
        return (file + "/").startswith(root) and not (file + "/").startswith(others)

    def test(file: str) -> bool:
        return file in files or file.startswith(folders)

    def suspect(file: str) -> bool:
        return inside(file) and not test(file)

    def touched(file: str) -> bool:
        return file in written

    def library(file: str) -> bool:
        return test(file) or file.startswith(("<frozen ", judge, standard)) or file.startswith(installed)

    def reporting(file: str) -> bool:
        if file.startswith(standard) and "-packages/" not in file:
            return file.startswith(through)
        return not file.startswith("<") and library(file)

    def forbidden(file: str) -> bool:
        path = file if file.startswith("/") else root + file
        if path.startswith("/proc/"):
            return path.endswith(secrets) or "/fd/" in path
        return path.startswith(judge) or (path.endswith(".py") and test(path))

    def relative(file: str) -> str:
        return file[len(root) :] if file.startswith(root) else file

    other = _disguised(folders, frozenset(f for f in files if f.endswith(".py")))
    return Territory(inside, test, suspect, touched, library, reporting, forbidden, other, library, relative)
