"""What languages need to run: interpreters and toolchains, found without running anything."""

from __future__ import annotations

from collections.abc import Mapping

from referee.domain.value import Value
from referee.ports.sandbox import Mount


class Interpreter(Value):
    """A language's interpreter and what is installed for it, found without running anything.

    `executable` and `prefix` are paths as seen inside the sandbox, `mounts` what makes them visible there.
    `distributions` are installed packages by normalised name with their versions, `plugins` the names of their
    pytest plugins, `scripts` the programs beside the executable. `note` says in words what is missing.
    """

    executable: str
    prefix: str
    version: str
    mounts: tuple[Mount, ...] = ()
    distributions: Mapping[str, str] = {}
    plugins: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    note: str = ""


class Toolchain(Value):
    """What another language's programs need to work without a network, found without running anything.

    `mounts` show it, `path` are folders for PATH, `env` are variables; `note` says in words what is missing.
    """

    name: str
    mounts: tuple[Mount, ...] = ()
    path: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    note: str = ""
