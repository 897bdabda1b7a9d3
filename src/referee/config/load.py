"""Layering: defaults, the user's file, the repository's file, the environment, the options of the command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import platformdirs

from referee.config.environment import environment, from_environment
from referee.config.files import Source, repository_source, user_source
from referee.config.keys import KEYS, checked, default
from referee.config.rules import Asked
from referee.config.values import DEFAULT, Config
from referee.domain.errors import UsageError
from referee.domain.preset import DEFAULTS


def load(
    repo: str = ".",
    *,
    flags: Mapping[str, Any] | None = None,
    variables: Mapping[str, str] | None = None,
    user_file: str | None = None,
) -> Config:
    """The settings for `repo`, read once from disk and environment and frozen.

    `flags` are by dotted key, None where the option was not given. `variables` and `user_file` stand in for
    the process's environment and the file in the platform's configuration folder.
    Raises `UsageError` that names the file and line, the variable or the option, and what to write instead.
    """
    layers = Layers()
    source = user_source(user_path() if user_file is None else user_file)
    if source is not None:
        layers.user(source)
    source = repository_source(root_of(repo))
    if source is not None:
        layers.repository(source)
    for name, raw in from_environment(environment() if variables is None else variables).items():
        layers.put(name, checked(KEYS[name], raw, _env(name), strict=False), _env(name))
    for name, raw in (flags or {}).items():
        if raw is not None and raw != ():
            layers.put(name, checked(KEYS[name], raw, _flag(name), strict=False), _flag(name))
    return layers.config()


def user_path() -> str:
    """Where the user's own file is looked for."""
    return os.path.join(platformdirs.user_config_dir("referee", appauthor=False), "config.toml")


def root_of(repo: str) -> str:
    """The folder at or above `repo` that holds `.git`; `repo` itself if there is none."""
    start = os.path.realpath(repo)
    if not os.path.isdir(start):
        raise UsageError(f"{repo} is not a folder; give --repo the path of a git repository")
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above
    return folder


class Layers:
    """The settings while they pile up."""

    def __init__(self) -> None:
        self._values = {name: default(key) for name, key in KEYS.items()}
        self._origins = dict.fromkeys(KEYS, DEFAULT)
        self._by_user: frozenset[str] = frozenset()
        self._notes: list[str] = []

    def put(self, name: str, value: Any, origin: str) -> None:
        if KEYS[name].grows:
            value, _ = KEYS[name].rule(Asked(key=name, stands=self._values[name], by_user=True, value=value))
            before = self._origins[name]
            origin = origin if before == DEFAULT else f"{before}, {origin}"
        self._values[name], self._origins[name] = value, origin

    def user(self, source: Source) -> None:
        settings = source.settings()
        for name, value in settings.items():
            self.put(name, value, source.path)
        self._by_user = frozenset(settings)

    def repository(self, source: Source) -> None:
        for name, value in source.settings().items():
            asked = Asked(key=name, stands=self._values[name], by_user=name in self._by_user, value=value)
            try:
                stands, note = KEYS[name].rule(asked)
            except UsageError as refused:
                raise UsageError(f"{source.place(name)}: {refused}") from None
            if note:
                self._notes.append(f"{source.path} {note}")
            if KEYS[name].grows:
                self.put(name, value, source.path)
            elif stands != asked.stands or not (note or asked.by_user):
                both = asked.by_user and name == "rule"  # what the user's file says there stands beside it
                origin = f"{self._origins[name]}, {source.path}" if both else source.path
                self._values[name], self._origins[name] = stands, origin

    def config(self) -> Config:
        for name, value in DEFAULTS.get(self._values["preset"], {}).items():
            if self._origins[name] == DEFAULT:
                self._values[name], self._origins[name] = value, f"preset {self._values['preset']}"
        flat = {key.field: self._values[name] for name, key in KEYS.items()}
        nested: dict[str, Any] = {}
        for field, value in flat.items():
            section, _, last = field.rpartition(".")
            if section:
                nested.setdefault(section, {})[last] = value
            else:
                nested[field] = value
        origins = {key.field: self._origins[name] for name, key in KEYS.items()}
        return Config(**nested, origins=origins, notes=tuple(self._notes))


def _env(name: str) -> str:
    return f"environment variable {KEYS[name].env}"


def _flag(name: str) -> str:
    return f"option {KEYS[name].flag}"
