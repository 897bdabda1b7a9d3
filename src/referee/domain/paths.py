"""Which relative paths a proposal may name at all, whatever the repository allows."""

from __future__ import annotations

import re
import unicodedata

MAX_PATH = 512
_DRIVE = re.compile(r"^[A-Za-z]:")


def objection(path: str) -> str | None:
    """Why `path` is not a plain relative POSIX path, in words a model can act on; None if it is."""
    parts = path.split("/")
    if not path or len(path.encode("utf-8", "surrogatepass")) > MAX_PATH:
        return f"path is empty or longer than {MAX_PATH} bytes"
    if path.startswith("/") or _DRIVE.match(path) or path.startswith("~"):
        return f"{path!r} is absolute; give the path relative to the repository's root"
    if "\\" in path:
        return f"{path!r} has a backslash; separate folders with '/'"
    if ".." in parts:
        return f"{path!r} climbs with '..'; name a path inside the repository"
    if "" in parts or "." in parts:
        return f"{path!r} is not normalised; leave out '.' and doubled '/'"
    if any(p.casefold() == ".git" for p in parts):
        return f"{path!r} is inside a .git folder"
    if any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in path):
        return f"{path!r} has control or invisible characters"
    if any(p != p.rstrip(". ") for p in parts):
        return f"{path!r} has a part that ends in a dot or a space"
    if unicodedata.normalize("NFC", path) != path:
        return f"{path!r} is not in Unicode normal form C"
    return None
