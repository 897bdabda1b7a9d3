"""The list of cheats as a page of the documentation: run this file to write it anew."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from cheats import BY_SOURCE, CHEATS
from cheats_hidden import OPEN
from cheats_numbers import NUMBERS

PAGE = Path(__file__).parents[3] / "docs" / "cheats.md"
_HEAD = """\
# Cheats

Every way to pass tests without repairing anything that we know of and have tried. `tests/security/judge` runs each for
real; this page is written from its list by `python tests/security/judge/table.py`, and a test compares the two. The
tiers are explained in [security.md](security.md).

*seen*: the run itself shows it, whatever the source looks like. *source*: refused by what the patch says or changes,
before it runs. **passes**: nothing in this tier stops it.

| attack | default | strict |
|---|---|---|
"""


def page() -> str:
    """The page as it should be."""
    rows = [(name, "seen", "seen") for name in (*CHEATS, *(f"bend: {n}" for n in NUMBERS))]
    rows += [(f"look: {name}", "source", "source") for name in BY_SOURCE]
    rows.append(("bend: change a file of expected values that the tests read", "source", "source"))
    rows += [(f"look: {name}", "**passes**", "refused") for name in OPEN]
    return _HEAD + "".join(f"| {n} | {default} | {strict} |\n" for n, default, strict in rows)


if __name__ == "__main__":
    PAGE.write_text(page())
