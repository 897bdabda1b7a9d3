"""uv's resolver on a list of requirements, in a folder of its own: no configuration of a repository's, no builds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from referee.adapters.uv.wanted import Wanted
from referee.domain.errors import UsageError, WorldFault
from referee.domain.resolution import Conflict, Resolution, difference

_SECONDS = 120
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==(\S+)", re.MULTILINE)
_SECRET = re.compile(r"(https?://)[^/@\s]+@")
_UNREACHED = ("Failed to fetch", "error sending request", "dns error", "Connection refused", "timed out")
_SHUT = "network was disabled"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is asked beyond the project's own: `upgrade` are requirements, `python` a version as in 3.12."""

    upgrade: tuple[str, ...] = ()
    python: str = ""
    offline: bool = False


def resolve(want: Wanted, wish: Wish) -> Resolution:
    """Versions for all that is wanted, today's pins kept where they fit, or the reason why there are none.

    Raises `UsageError` for a wish that is no requirement, `WorldFault` without uv or if the index cannot be reached.
    """
    wishes = [_requirement(text) for text in wish.upgrade]
    freed = {canonicalize_name(w.name) for w in wishes}
    lines = [str(r) for r in want.requirements if not (_exact(r) and canonicalize_name(r.name) in freed)]
    lines += [str(w) for w in wishes]
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        _write(folder, "wanted.in", lines)
        _write(folder, "pins.txt", [f"{n}=={v}" for n, v in want.pins.items() if n not in freed])
        done = _run(folder, want, wish, sorted(freed))
        said = _SECRET.sub(r"\1", done.stderr.decode("utf-8", "replace"))
        if done.returncode == 0:
            with open(os.path.join(folder, "pins.txt"), encoding="utf-8") as file:
                resolved = {str(canonicalize_name(m[1])): m[2] for m in _PINNED.finditer(file.read())}
            return Resolution(resolved=resolved, changed=_changed(want, resolved), notes=want.notes)
    if _SHUT in said:
        raise WorldFault(f"offline, only what is in uv's cache can be resolved: {_cause(said)}")
    if any(sign in said for sign in _UNREACHED) and "No solution" not in said:
        raise WorldFault(f"the package index cannot be reached, is this machine offline? {_cause(said)}")
    if "No solution" not in said:
        raise WorldFault(f"uv failed: {_cause(said)}")
    return Resolution(conflicts=(_conflict(lines, _cause(said)),), notes=want.notes)


def _run(folder: str, want: Wanted, wish: Wish, freed: list[str]) -> subprocess.CompletedProcess[bytes]:
    version = wish.python or want.python or f"{sys.version_info[0]}.{sys.version_info[1]}"
    argv = [
        _program(), "pip", "compile", "wanted.in", "-o", "pins.txt", "--no-header", "--no-annotate", "--no-build",
        "--color", "never", "--quiet", "--python-version", version, "--python", sys.executable,
        *(part for name in freed for part in ("--upgrade-package", name)), *(["--offline"] if wish.offline else []),
    ]  # fmt: skip
    environment = {**os.environ, "UV_HTTP_RETRIES": "1"}
    try:
        return subprocess.run(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WorldFault(f"uv found no answer within {_SECONDS} seconds") from None


def _program() -> str:
    beside = os.path.join(sys.prefix, "bin", "uv")
    found = beside if os.access(beside, os.X_OK) else shutil.which("uv")
    if not found:
        raise WorldFault("uv resolves dependencies and is not installed; type: pip install 'referee[deps]'")
    return found


def _requirement(text: str) -> Requirement:
    try:
        made = Requirement(text)
    except InvalidRequirement:
        raise UsageError(f"--upgrade {text}: name a package, as in --upgrade click or --upgrade 'click>=8.2'") from None
    if made.url:
        raise UsageError(f"--upgrade {text}: an address is not resolved; name a package and a version")
    return made


def _exact(requirement: Requirement) -> bool:
    specifiers = list(requirement.specifier)
    return len(specifiers) == 1 and specifiers[0].operator == "=="


def _changed(want: Wanted, resolved: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What differs from the lock; without one, from the exact pins among the requirements themselves."""
    if want.pins:
        return difference(want.pins, resolved)
    exact = {str(canonicalize_name(r.name)): next(iter(r.specifier)).version for r in want.requirements if _exact(r)}
    before = {name: version for name, version in exact.items() if name in resolved and "*" not in version}
    return difference(before, {name: resolved[name] for name in before})


def _conflict(lines: list[str], why: str) -> Conflict:
    """The project's own requirements that the reason speaks of."""
    words = set(re.findall(r"[a-z0-9]+(?:[._-][a-z0-9]+)*", why.lower()))
    named = {canonicalize_name(w) for w in words}
    about = tuple(li for li in lines if canonicalize_name(Requirement(li).name) in named)
    return Conflict(requirements=about, why=why)


def _cause(said: str) -> str:
    """What uv says, on one line and without its decoration."""
    lines = [re.sub(r"^[\s×╰─▶▸│├]*(?:error:|cause:|Caused by:)?\s*", "", li) for li in said.splitlines()]
    text = " ".join(li for li in lines if li and not li.startswith("No solution found"))
    return text.strip()[:2000] or "it gave no reason"


def _write(folder: str, name: str, lines: list[str]) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
