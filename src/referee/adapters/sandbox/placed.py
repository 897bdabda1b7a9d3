"""For sandboxes that cannot show files where a command expects them: a private copy, and the command renamed to it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from referee.adapters.sandbox.descriptors import file_with
from referee.adapters.sandbox.requests import contents, run_request
from referee.adapters.sandbox.stage import patch, places
from referee.adapters.sandbox.stage.request import encode
from referee.domain.errors import WorldFault
from referee.domain.patch import Patch
from referee.ports import Command

HOME, TEMPORARY, BASE = "home", "tmp", "base"  # below the private folder


@contextlib.contextmanager
def placed(command: Command, owner: tuple[int, int] | None = None) -> Iterator[tuple[Command, str]]:
    """`command` by the names of the host, and the private folder that holds its home and its copy of the base.

    All of it belongs to `owner`, if given, and is gone afterwards. Raises `WorldFault` if it cannot be made.
    """
    with tempfile.TemporaryDirectory(prefix="referee-", ignore_cleanup_errors=True) as private:
        ready = _place(command, os.path.realpath(private))
        if owner is not None:
            _give_away(private, owner)
        yield ready, os.path.realpath(private)


def _place(command: Command, private: str) -> Command:
    """Lay out files below `private` and name them in the command."""
    moved = {m.target: os.path.abspath(m.source) for m in command.mounts}
    for name in (HOME, TEMPORARY):
        os.mkdir(f"{private}/{name}")
    if command.base is not None:
        copy = f"{private}/{BASE}"
        moved[command.base.mount_at] = copy
        try:
            shutil.copytree(command.base.path, copy, symlinks=True)
            _link_mounts(command, copy)
            _patch(command, copy)
        except OSError as e:
            raise WorldFault(f"the base could not be copied: {e}") from e
    env = {name: _moved(value, moved) for name, value in command.env.items()}
    private_env = {"HOME": f"{private}/{HOME}", "TMPDIR": f"{private}/{TEMPORARY}"}
    return command.model_copy(
        update={
            "argv": tuple(_moved(a, moved) for a in command.argv),
            "cwd": _moved(command.cwd, moved),
            "env": {**private_env, **env},
            "base": None,
            "mounts": (),
            "patch": Patch(),
        }
    )


def _link_mounts(command: Command, copy: str) -> None:
    for mount in command.mounts:
        if command.base is not None and places.inside(mount.target, command.base.mount_at):
            link = copy + mount.target[len(command.base.mount_at.rstrip("/")) :]
            os.makedirs(os.path.dirname(link), exist_ok=True)
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(mount.source), link)


def _patch(command: Command, copy: str) -> None:
    request = run_request(command)
    new = contents(command.patch)
    body = file_with(encode(request, new))
    try:
        patch.apply(copy, request.changes, body, os.fstat(body).st_size - sum(map(len, new)))
    finally:
        os.close(body)


def _give_away(root: str, owner: tuple[int, int]) -> None:
    os.chown(root, *owner)
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            os.chown(os.path.join(folder, name), *owner, follow_symlinks=False)


def _moved(text: str, moved: dict[str, str]) -> str:
    """`text`, or each part of a list of paths in it, with the longest mounted path at its start replaced."""
    parts = text.split(":")
    for n, part in enumerate(parts):
        for target in sorted(moved, key=len, reverse=True):
            if part == target or places.inside(part, target):
                parts[n] = moved[target] + part[len(target) :]
                break
    return ":".join(parts)
