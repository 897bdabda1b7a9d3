"""Make `controls.md` of `controls.toml`: run `python docs/security/make.py` after a change of either."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PAGE = FOLDER / "controls.md"
STATES = ("met", "partly", "open", "not ours")
CHAPTERS = {"9": "C9: agents and their orchestration", "10": "C10: Model Context Protocol"}
_HEAD = """# Controls

How the requirements of {standard} on agents (chapter C9) and on MCP (chapter C10) are met here, with the code that
does it and a test that shows it. `asks` is in our words; the standard has the requirement itself. It is our own
judgement, nobody else has assessed it. The threats behind it are in [security](../security.md). This page is made by
`make.py`; a test fails when it is out of date, or names a file or test that is not there.

{counts}.
"""


def controls() -> tuple[str, list[dict[str, Any]]]:
    """The standard's name and the controls in order."""
    read = tomllib.loads((FOLDER / "controls.toml").read_text(encoding="utf-8"))
    return read["standard"], read["control"]


def faults(entries: list[dict[str, Any]]) -> list[str]:
    """What is wrong in the data: unknown states, missing reasons, files and tests that are not there."""
    found = [f"{name} stands {n} times" for name, n in Counter(e["id"] for e in entries).items() if n > 1]
    for entry in entries:
        state = entry["state"]
        if state not in STATES:
            found.append(f"{entry['id']}: {state} is no state")
        if (state == "met") == bool(entry.get("but")):
            found.append(f"{entry['id']}: what is not met needs a reason, and what is met has none")
        if state in ("met", "partly") and not (entry.get("code") and entry.get("tests")):
            found.append(f"{entry['id']}: what is met names code and a test")
        found += [f"{entry['id']}: there is no {path}" for path in entry.get("code", ()) if not (ROOT / path).is_file()]
        found += [f"{entry['id']}: there is no {test}" for test in entry.get("tests", ()) if not _exists(test)]
    return found


def page() -> str:
    """The page as it should be."""
    standard, entries = controls()
    counted = Counter(e["state"] for e in entries)
    counts = ", ".join(f"{counted[s]} {s}" for s in STATES)
    parts = [_HEAD.format(standard=standard, counts=f"Of {len(entries)}: {counts}")]
    for number, title in CHAPTERS.items():
        rows = [_row(e) for e in entries if e["id"].partition(".")[0] == number]
        parts.append(
            "\n".join([f"## {title}\n", "| | asks | state | code | shown by |", "|---|---|---|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _row(entry: dict[str, Any]) -> str:
    state = entry["state"] + (f": {entry['but']}" if entry.get("but") else "")
    # Not linked: the site that is made of these pages does not hold the sources.
    code, tests = ("<br>".join(f"`{name}`" for name in entry.get(kind, ())) for kind in ("code", "tests"))
    return f"| {entry['id']} | {entry['asks']} | {state} | {code} | {tests} |"


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    file = ROOT / path
    return (
        file.is_file() and re.search(rf"^def {re.escape(name)}\(", file.read_text(encoding="utf-8"), re.M) is not None
    )


if __name__ == "__main__":
    wrong = faults(controls()[1])
    if wrong:
        raise SystemExit("\n".join(wrong))
    PAGE.write_text(page(), encoding="utf-8")
