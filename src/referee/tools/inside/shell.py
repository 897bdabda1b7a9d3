"""Run a command in the copy of the repository and report every file it changed; or search in its files.

Loaded once and forked for each call (or run anew where the platform cannot fork). The standard library only. Nothing
here has to be out of a command's reach: what it reports is only a proposal.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import os
import re
import signal
import stat
import subprocess
import sys
from typing import Any

KEY, FRAMES = 3, 4  # descriptors given by the sandbox
_LEFT_OUT = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".harness"})
_LONG_AGO = 1_000_000_000  # seconds; before any change that a command makes
_BINARY = 8_192
_LINE = 500
_MOST_ROWS = 20_000

Stamp = tuple[int, ...]


def look(root: str) -> dict[str, Stamp]:
    """Every file and link below `root`, with what changes when it is written."""
    found: dict[str, Stamp] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _LEFT_OUT:
                        folders.append(f"{path}/")
                else:
                    found[path] = stamp(entry.stat(follow_symlinks=False))
    return found


def stamp(seen: os.stat_result) -> Stamp:
    """What differs once a file was written."""
    return (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


ROOT = os.getcwd()
BEFORE = look(ROOT)  # the copy as it is before any patch


def known(patched: list[str]) -> dict[str, Stamp]:
    """The files before the command: the copy's, and those that the patch has made or deleted."""
    before = dict(BEFORE)
    for path in patched:
        before.pop(path, None)
        whole = os.path.join(ROOT, path)
        if os.path.lexists(whole):
            # The clock of files is coarse: a change right after the patch must show all the same.
            os.utime(whole, (_LONG_AGO, _LONG_AGO), follow_symlinks=False)
            before[path] = stamp(os.lstat(whole))
    return before


def run(asked: dict[str, Any]) -> dict[str, Any]:
    """How the command ended; its exit code is None if its time ended."""
    shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    where = os.path.join(ROOT, asked["cwd"])
    if not os.path.isdir(where):
        return {"failed": f"there is no folder {asked['cwd']}"}
    process = subprocess.Popen(
        [shell, "-c", asked["command"]], cwd=where, stdin=subprocess.DEVNULL, stderr=1, start_new_session=True
    )
    try:
        return {"exit": process.wait(asked["seconds"])}
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return {"exit": None}


def changes(before: dict[str, Stamp], most: int) -> list[dict[str, Any]]:
    """What differs from `before`: whole contents, the smallest first, up to `most` bytes; of the others the names."""
    after, found = look(ROOT), list[dict[str, Any]]()
    for path in sorted(before.keys() - after.keys()):
        found.append({"path": shown(path), "gone": True})
    for path in sorted((p for p in after if before.get(p) != after[p]), key=lambda p: (after[p][1], p)):
        mode, size = after[path][:2]
        if not stat.S_ISREG(mode):
            found.append({"path": shown(path), "special": True})
            continue
        most -= size
        if most < 0:
            found.append({"path": shown(path), "over": True})
            continue
        with open(os.path.join(ROOT, path), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        found.append({"path": shown(path), "data": data, "executable": bool(mode & 0o111)})
    return found


def shown(path: str) -> str:
    """A name as text; one that is not UTF-8 is written out, and then nobody takes it for a file of a proposal."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def search(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Every matching line, with the lines around it, and at the end how many there are in how many files."""
    try:
        wanted = re.compile(asked["pattern"].encode(), 0 if asked["case"] else re.IGNORECASE)
    except (re.error, ValueError) as wrong:
        return [{"failed": f"the pattern is no regular expression: {wrong}"}]
    rows, matches, files = list[str](), 0, 0
    for path in sorted(_within(asked["path"], asked["glob"])):
        lines = _lines(path)
        hits = [n for n, line in enumerate(lines) if wanted.search(line)]
        matches, files = matches + len(hits), files + bool(hits)
        rows += _rows(shown(path), lines, hits, asked["context"]) if len(rows) < _MOST_ROWS else []
    return [{"rows": rows, "matches": matches, "files": files}]


def _within(path: str, pattern: str) -> list[str]:
    whole = os.path.join(ROOT, path)
    if os.path.isfile(whole):
        return [path]
    prefix = "" if path == "." else f"{path}/"
    names = [p for p in look(ROOT) if p.startswith(prefix)]
    return [p for p in names if not pattern or _named(p, pattern)]


def _named(path: str, pattern: str) -> bool:
    if "/" in pattern:
        return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern.replace("**/", ""))
    return fnmatch.fnmatch(path.rpartition("/")[2], pattern)


def _lines(path: str) -> list[bytes]:
    whole = os.path.join(ROOT, path)
    if not stat.S_ISREG(os.lstat(whole).st_mode):
        return []
    with open(whole, "rb") as file:
        data = file.read()
    return [] if b"\0" in data[:_BINARY] else data.splitlines()


def _rows(path: str, lines: list[bytes], hits: list[int], context: int) -> list[str]:
    near = {k for n in hits for k in range(max(0, n - context), min(len(lines), n + context + 1))}
    marked, out, last = frozenset(hits), list[str](), -1
    for k in sorted(near):
        out += ["--"] if context and out and k > last + 1 else []
        text = lines[k].decode("utf-8", "replace")
        out.append(f"{path}{':' if k in marked else '-'}{k + 1}{':' if k in marked else '-'}{text[:_LINE]}")
        last = k
    return out


def main(argv: list[str]) -> int:
    """Do what is asked, a JSON object in pieces, and report line by line."""
    asked = json.loads("".join(argv))
    os.close(KEY)
    os.set_inheritable(FRAMES, False)
    if asked["what"] == "search":
        said = search(asked)
    else:
        before = known(asked["patched"])
        ended = run(asked)
        said = [*changes(before, asked["most"]), ended]
    with open(FRAMES, "w", encoding="ascii") as frames:
        for each in said:
            frames.write(json.dumps(each) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
