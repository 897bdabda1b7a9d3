"""Which files of a repository a command names, as far as its words show it: what a person trusts with the command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

_VARIABLE = re.compile(r"[\"']?\$\{?\w+\}?[\"']?/")
_BREAKS = re.compile(r"[\s\"'`;&|()<>=]+")
_MODULE = re.compile(r"(?:^|\s)-m[\s\"',]*([\w.]+)")


def named(commands: Iterable[str], paths: Iterable[str], digest: Callable[[str], str | None]) -> Mapping[str, str]:
    """The SHA-256 of each file that a word of a command is, or may be from another folder, by path.

    `paths` are the files of the repository; `digest` gives None for what is no file in it.
    """
    words = {word for command in commands for word in _words(command)}
    tails = {word.lstrip("./") for word in words}
    lasts = {tail.rpartition("/")[2] for tail in tails}
    near = {p for p in paths if p.rpartition("/")[2] in lasts and any(f"/{p}".endswith(f"/{t}") for t in tails if t)}
    found = {path: digest(path) for path in sorted(near | {word.removeprefix("./") for word in words})}
    return {path: content for path, content in found.items() if path and content is not None}


def _words(command: str) -> Iterable[str]:
    yield from (w for w in _BREAKS.split(_VARIABLE.sub("", command)) if w and not w.startswith("-"))
    for module in _MODULE.findall(command):
        place = module.replace(".", "/")
        yield from (f"{place}.py", f"{place}/__init__.py", f"{place}/__main__.py")
