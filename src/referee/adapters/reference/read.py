"""From sources to the list of their public things, in the order of the modules' names and of the files' lines."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import griffe

from referee.adapters.reference.collect import Collector, Modules
from referee.adapters.reference.exact import AsWritten
from referee.adapters.reference.sources import INIT, Sources, sources, text_of
from referee.domain.documented import Reference


def read(path: str, root: str) -> Reference:
    """The public interface of what `path` means, with files named as from `root`. Nothing is imported or run.

    Raises `UsageError` if there is no Python there.
    """
    # What griffe has to say goes to a log that nobody set up, which Python would print.
    logging.getLogger("griffe").addHandler(logging.NullHandler())
    meant = sources(path)
    origin = root if os.path.commonpath([root, meant.folder]) == root else meant.folder
    modules, unread = _loaded(meant)
    collector = Collector(modules, origin)
    things = [t for name in sorted(modules) if _meant(name, meant.wanted) for t in collector.module(name)]
    told = tuple((os.path.relpath(file, origin), why) for file, why in unread)
    return Reference(things=tuple(things), unread=told)


def _meant(name: str, wanted: tuple[str, ...]) -> bool:
    within = any(name == w or name.startswith(w + ".") for w in wanted)
    return within and not any(p.startswith("_") and p != "__main__" for p in name.split("."))


def _loaded(meant: Sources) -> tuple[Modules, list[tuple[str, str]]]:
    """griffe's view of every module, parents first; and the files that are no source.

    griffe's own loader would also ask git about the repository, whose configuration may name programs to run.
    """
    extensions = griffe.load_extensions(AsWritten())
    loader = griffe.GriffeLoader(extensions=extensions, search_paths=[], allow_inspection=False)
    modules: Modules = {}
    unread: list[tuple[str, str]] = []
    for found in meant.modules:
        parent = modules.get(found.parent)
        if found.parent and parent is None:
            continue  # its package could not be read, which is told
        file = Path(found.file) if found.file else None
        try:
            code = text_of(found.file) if found.file else ""
            module = griffe.visit(
                found.name.rpartition(".")[2], file or Path(found.name, f"{INIT}.py"), code, extensions=extensions,
                parent=parent, lines_collection=loader.lines_collection, modules_collection=loader.modules_collection,
            )  # fmt: skip
        except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
            unread.append((found.file, _words(wrong)))
            continue
        modules[found.name] = module
        if parent is None:
            loader.modules_collection.set_member(module.path, module)
        elif found.name.rpartition(".")[2] not in parent.members:
            parent.set_member(found.name.rpartition(".")[2], module)
    for top in [m for name, m in modules.items() if "." not in name]:
        loader.expand_exports(top)
        loader.expand_wildcards(top, external=False)
        extensions.call("on_package", pkg=top, loader=loader)
    return modules, unread


def _words(wrong: BaseException) -> str:
    if isinstance(wrong, SyntaxError):
        return f"it is no valid Python: {wrong.msg} (line {wrong.lineno})"
    if isinstance(wrong, ValueError):
        return str(wrong)
    return "it is nested too deeply to be read"
