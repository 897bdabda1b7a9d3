"""The page of settings, from the table that reads them."""

from __future__ import annotations

from typing import Any

from shapes import described, table

from referee.config.keys import KEYS, TABLES, Key, default
from referee.domain.preset import DEFAULTS
from referee.render.markdown import cell

HEAD = """# Settings

Made from the code. What the settings mean, and how they are layered, is in [configuration](../configuration.md).

| key | type | default | variable | option | in a repository's file |
|---|---|---|---|---|---|
"""


def page() -> str:
    """Every setting, and the tables that some of them are."""
    parts = [HEAD + "\n".join(_row(key) for key in KEYS.values())]
    parts += [f"## `[[{name}]]`\n\n{table(kind)}" for name, kind in TABLES.items()]
    rows = [f"| `{p.value}` | `{key}` | {value} |" for p, values in DEFAULTS.items() for key, value in values.items()]
    parts.append("## Presets\n\n| preset | key | instead |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _row(key: Key) -> str:
    kind, value = described(key), _value(default(key))
    rule = " ".join((key.rule.__doc__ or "").split())
    option = " ".join(f"`{word}`" for word in key.flag.split(" / ") if word)
    return f"| `{key.name}` | {kind} | {value} | {f'`{key.env}`' if key.env else ''} | {option} | {cell(rule)} |"


def _value(value: Any) -> str:
    if value in (None, "", ()):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{', '.join(map(str, value))}`" if isinstance(value, tuple) else f"`{value}`"
