"""Source archives of releases, read without unpacking them."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Mapping

from referee.domain.errors import UsageError
from referee.domain.patch import FileContent


def release(folder: str, name: str, version: str) -> Mapping[str, FileContent]:
    """The regular files of NAME-VERSION.tar.gz in `folder`, by path below its top folder.

    Raises `UsageError` that says how to get the archive if it is not there or cannot be read.
    """
    path = os.path.join(folder, f"{name}-{version}.tar.gz")
    if not os.path.isfile(path):
        raise UsageError(
            f"{path} is missing; get it with: pip download --no-deps --no-binary :all: -d {folder} {name}=={version}"
        )
    found = {}
    try:
        with tarfile.open(path) as packed:
            for member in packed:
                _, _, inner = member.name.removeprefix("./").partition("/")
                file = packed.extractfile(member) if member.isreg() else None
                if inner and ".." not in inner.split("/") and file is not None:
                    found[inner] = FileContent(data=file.read(), executable=bool(member.mode & 0o100))
    except (tarfile.TarError, OSError, EOFError) as wrong:
        raise UsageError(f"{path} cannot be read ({wrong}); get it again") from None
    return found
