"""The process's environment, read here and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from referee.config.keys import KEYS, LISTS, nearest
from referee.domain.errors import UsageError

DEBUG = "REFEREE_DEBUG"
DATABASE = "REFEREE_DATABASE"  # may hold a password, so it is no setting, which the record of a run would keep
_OTHERS = (DEBUG, DATABASE)
_SECRET = re.compile(
    r"(?:^|_)(?:\w*KEY|\w*TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?)(?:_|$)", re.I
)
_NAMES_ONLY = re.compile(r"_(?:PATH|FILE|DIR|SOCK|NAME|ID|TYPE|HOST|USER|URL|URI|ENV|VERSION)$", re.I)
_IN_AN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/:@]*:([^\s@]+)@", re.I)


def environment() -> Mapping[str, str]:
    """The variables of this process, as they are now."""
    return dict(os.environ)  # noqa: TID251 - the one place that reads them


def secret(name: str, variables: Mapping[str, str] | None = None) -> str | None:
    """The value of the variable `name` (an API key), None if it is unset or empty. Never put it into a value."""
    return (environment() if variables is None else variables).get(name) or None


def secrets_of(variables: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The values that look like secrets by their variable's name, those of `named`, and passwords in addresses."""
    found = {}
    for name, value in variables.items():
        place = value.startswith(("/", "~", "./"))
        if name in named or (_SECRET.search(name) and not _NAMES_ONLY.search(name) and not place):
            found[name] = value
        elif password := _IN_AN_ADDRESS.search(value):
            found[name] = password[1]
    return found


def from_environment(variables: Mapping[str, str]) -> dict[str, str | list[str]]:
    """Raw settings by dotted key from `REFEREE_*`; lists are separated by commas.

    Raises `UsageError` for a `REFEREE_` variable that means nothing: a misspelt limit must not be ignored.
    """
    known = {k.env: k.name for k in KEYS.values() if k.env}
    raw: dict[str, str | list[str]] = {}
    for variable, text in sorted(variables.items()):
        if variable in known and text:
            name = known[variable]
            raw[name] = [part.strip() for part in text.split(",")] if name in LISTS else text
        elif variable.startswith("REFEREE_") and variable not in known and variable not in _OTHERS:
            hint = nearest(variable, [*(v for v in known if v.startswith("REFEREE_")), *_OTHERS])
            raise UsageError(f"environment variable {variable} is not a setting; {hint}")
    return raw
