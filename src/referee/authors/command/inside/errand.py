"""Run an agent in the current folder and report every file that is not as before, one JSON object a line.

Standard library only. Arguments: a JSON object, in pieces. What is reported is only a proposal, so nothing here has to
be out of the agent's reach.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from typing import Any

KEY, FRAMES = 3, 4  # descriptors given by the sandbox
_LEFT_OUT = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".harness"})


def look(root: str) -> dict[str, tuple[int, ...]]:
    """Every file and link below `root`, with what changes when it is written."""
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in _LEFT_OUT]
        links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
        for name in (*names, *links):
            path = os.path.join(folder, name)
            try:
                seen = os.lstat(path)
            except FileNotFoundError:  # something that the agent left running removed it just now
                continue
            found[os.path.relpath(path, root)] = (seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return found


def run(asked: dict[str, Any]) -> int | None:
    """The agent's exit code; None if its time ended."""
    folder = tempfile.mkdtemp()
    prompt = os.path.join(folder, "prompt.txt")
    with open(prompt, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(asked["prompt"])
    argv = [a.replace("{prompt_file}", prompt).replace("{prompt}", asked["prompt"]) for a in asked["argv"]]
    with open(prompt if asked["stdin"] else os.devnull, "rb") as given:
        process = subprocess.Popen(argv, stdin=given, start_new_session=True)
        ended: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = process.wait(asked["seconds"])
        # What it left behind would go on writing while its work is read.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return ended


def changes(root: str, before: dict[str, tuple[int, ...]], most: int) -> list[dict[str, Any]]:
    """What differs from `before`: whole contents, at most `most` bytes of them."""
    after, found = look(root), list[dict[str, Any]]()
    for path in sorted(before.keys() - after.keys()):
        found.append({"path": shown(path), "gone": True})
    for path in sorted(p for p in after if before.get(p) != after[p]):
        mode, size = after[path][:2]
        if not stat.S_ISREG(mode):
            found.append({"path": shown(path), "special": True})
            continue
        most -= size
        if most < 0:
            return [*found, {"over": True}]
        try:
            with open(os.path.join(root, path), "rb") as file:
                data = base64.b64encode(file.read()).decode()
        except FileNotFoundError:
            found.append({"path": shown(path), "gone": True})
        except OSError:
            found.append({"path": shown(path), "special": True})
        else:
            found.append({"path": shown(path), "data": data, "executable": bool(mode & 0o111)})
    return found


def shown(path: str) -> str:
    """A name as text; one that is not UTF-8 is written out, and then nobody takes it for a file of a proposal."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def main() -> None:
    """Look, let the agent work, look again, report."""
    asked = json.loads("".join(sys.argv[1:]))
    os.close(KEY)
    os.set_inheritable(FRAMES, False)
    root = os.getcwd()
    before = look(root)
    try:
        ended: dict[str, Any] = {"exit": run(asked)}
    except OSError as wrong:
        ended = {"failed": f"{asked['argv'][0]} could not be started: {wrong.strerror}"}
    with open(FRAMES, "w", encoding="ascii") as frames:
        for each in (*changes(root, before, asked["most"]), ended):
            frames.write(json.dumps(each) + "\n")


if __name__ == "__main__":
    main()
