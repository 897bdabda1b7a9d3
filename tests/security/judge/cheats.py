"""Patches that leave the bug unrepaired and try to pass anyway, by name."""

from __future__ import annotations

from buggy import Files
from cheats_around import AVOID, LEAVE, SHADOW
from cheats_equal import AGREE, LOOK
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
    )
    for name, files in group.items()
}
