"""The pages of the reference, made from the code whenever the site is built, so that they are never stale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import commands
import documents
import interface
import settings
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = "reference"
UNSORTED = "Guides"  # where a page goes that the navigation does not name


def pages() -> Mapping[str, str]:
    """File names below the reference and their text."""
    return {
        "commands.md": commands.page(),
        "settings.md": settings.page(),
        **documents.pages(),
        **interface.pages(),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated, and sort in what nobody has sorted: a new page must not need this folder's care."""
    for name, text in pages().items():
        files.append(File.generated(config, f"{FOLDER}/{name}", content=text))
    named = set(_named(config.nav))
    [guides] = [section[UNSORTED] for section in config.nav or [] if isinstance(section, dict) and UNSORTED in section]
    guides += sorted(
        f.src_uri
        for f in files.documentation_pages()
        if f.src_uri not in named and not f.src_uri.startswith(f"{FOLDER}/")
    )
    return files


def _named(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav or []
    return [name for part in parts for name in _named(part)]
