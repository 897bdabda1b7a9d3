"""Which files of a tree a file in another language than Python uses, by its text and place alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs")
_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*["'](\.{1,2}/[^"'\n]+)["']""")


def neighbours(path: str, source: bytes, paths: Collection[str]) -> tuple[str, ...]:
    """JavaScript: what it imports by relative path; Go: its package; Rust: the library beside a `tests` folder."""
    folder = posixpath.dirname(path)
    if path.endswith(_SCRIPTS):
        found = {_script(folder, m[1], paths) for m in _IMPORT.finditer(source.decode("utf-8", "replace"))}
    elif path.endswith(".go"):
        found = {
            p for p in paths if p.endswith(".go") and posixpath.dirname(p) == folder and not p.endswith("_test.go")
        }
    elif path.endswith(".rs") and posixpath.basename(folder) == "tests":
        found = {posixpath.join(posixpath.dirname(folder), "src/lib.rs")} & set(paths)
    else:
        found = set()
    return tuple(sorted(found - {path, ""}))


def _script(folder: str, name: str, paths: Collection[str]) -> str:
    """The file that a relative import names, with the extension it leaves out; or TypeScript where it says .js."""
    whole = posixpath.normpath(posixpath.join(folder, name))
    stem, end = posixpath.splitext(whole)
    tries = [whole, *(whole + e for e in _SCRIPTS), *(f"{whole}/index{e}" for e in _SCRIPTS)]
    tries += [stem + e for e in _SCRIPTS] if end in _SCRIPTS else []
    return next((t for t in tries if t in paths), "")
