"""Patches that leave the bug unrepaired and try to pass anyway, by name."""

from __future__ import annotations

from buggy import Files
from cheats_around import AVOID, LEAVE, SHADOW
from cheats_equal import AGREE, LOOK
from cheats_equal import BY_SOURCE as LOOK_BY_SOURCE
from cheats_hidden import HIDE, HIDE_BY_SOURCE
from cheats_within import BEND, FORGE, REACH

CHEATS: dict[str, Files] = {
    f"{kind}: {name}": files
    for kind, group in (
        ("leave", LEAVE),
        ("avoid", AVOID),
        ("shadow", SHADOW),
        ("bend", BEND),
        ("forge", FORGE),
        ("reach", REACH),
        ("agree", AGREE),
        ("look", LOOK),
        ("hide", HIDE),
    )
    for name, files in group.items()
}

# Refused by their source: nothing inside can see them at work.
BY_SOURCE: dict[str, Files] = {**LOOK_BY_SOURCE, **HIDE_BY_SOURCE}
