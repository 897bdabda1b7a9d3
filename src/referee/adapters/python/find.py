"""Find the Python a project is tested with, and what the sandbox must show for it to start.

A `pyvenv.cfg` may come from a hostile repository: a folder is only shown if it really is a Python installation or
environment, and never if a home folder or the repository's root lies inside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from referee.adapters.python.environment import distributions, pytest_plugins
from referee.domain.errors import UsageError
from referee.ports import Interpreter, Mount

_PROVIDED = ("/usr",)  # the sandbox shows these anyway
_VERSION = re.compile(r"python(3\.\d+)$")
_ELF = b"\x7fELF"


def find(
    place: str, *, own: str, explicit: str | None = None, virtual_env: str | None = None, root: str = ""
) -> Interpreter:
    """The interpreter for the project in the folder `place` of the repository at `root` (by default `place` itself).

    That is the explicit one, the nearest `.venv` or `venv` from `place` up to `root`, `virtual_env`, `own`. `explicit`
    and `own` are paths of a Python executable or of an environment's folder. Raises `UsageError` if the explicit one,
    or all of them, cannot be used, saying why.
    """
    root = root or place
    if explicit is not None:
        return _examined(explicit, root)
    refused = []
    inside = [os.path.join(folder, name) for folder in _upwards(place, root) for name in (".venv", "venv")]
    for candidate in [*(p for p in inside if os.path.lexists(p)), *([virtual_env] if virtual_env else []), own]:
        try:
            found = _examined(candidate, root)
        except UsageError as error:
            refused.append(str(error))
            continue
        if refused:
            found = found.model_copy(update={"note": "; ".join([*refused, *([found.note] if found.note else [])])})
        return found
    raise UsageError("no usable Python: " + "; ".join(refused))


def _upwards(place: str, root: str) -> Iterator[str]:
    """`place` and the folders above it, up to `root`."""
    while place != root and place.startswith(root.rstrip("/") + "/"):
        yield place.rstrip("/")
        place = os.path.dirname(place.rstrip("/"))
    yield root


def _examined(place: str, root: str) -> Interpreter:
    """Read the environment or installation `place` belongs to."""
    prefix = _prefix(place)
    library = _library(prefix)
    config = _pyvenv(prefix)
    executable = _executable(prefix)
    bases = [prefix, *_hops(executable), *([_parent(config["home"])] if "home" in config else [])]
    mounts = _mounts(bases, root)
    sites = [os.path.join(library, "site-packages")]
    if config.get("include-system-site-packages", "").lower() == "true" or not config:
        for base in dict.fromkeys(os.path.realpath(b) for b in bases):
            sites += _sites(base, os.path.basename(library))
    packages = distributions(tuple(dict.fromkeys(sites)))
    note = ""
    if "pytest" not in packages:
        note = f"{executable} has no pytest; install it there: {executable} -m pip install pytest"
    return Interpreter(
        executable=executable,
        prefix=prefix,
        version=os.path.basename(library).removeprefix("python"),
        mounts=mounts,
        distributions=packages,
        plugins=pytest_plugins(tuple(dict.fromkeys(sites))),
        scripts=_scripts(os.path.join(prefix, "bin")),
        note=note,
    )


def _prefix(place: str) -> str:
    place = os.path.abspath(os.path.expanduser(place))
    prefix = place if os.path.isdir(place) else _parent(os.path.dirname(place))
    if not os.path.isdir(prefix):
        raise UsageError(f"{place} is not a Python environment; name a folder with bin/python in it")
    return prefix


def _parent(folder: str) -> str:
    return os.path.dirname(folder.rstrip("/"))


def _library(prefix: str) -> str:
    """`lib/pythonX.Y` of an environment (with site-packages) or an installation (with the standard library)."""
    lib = os.path.join(prefix, "lib")
    names = sorted(os.listdir(lib)) if os.path.isdir(lib) else []
    preferred = _version_of(prefix)
    names.sort(key=lambda n: n != preferred)
    for name in names:
        folder = os.path.join(lib, name)
        marks = ("os.py", "site-packages", "dist-packages")
        if _VERSION.match(name) and any(os.path.exists(os.path.join(folder, m)) for m in marks):
            return folder
    raise UsageError(f"{prefix} is not a Python environment: it has no lib/python3.*/site-packages")


def _version_of(prefix: str) -> str:
    name = os.path.basename(os.path.realpath(os.path.join(prefix, "bin", "python3")))
    return name if _VERSION.match(name) else ""


def _executable(prefix: str) -> str:
    for name in ("python", "python3"):
        path = os.path.join(prefix, "bin", name)
        if not os.path.exists(path):
            continue
        try:
            with open(path, "rb") as file:
                if file.read(4) == _ELF:
                    return path
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        raise UsageError(f"{path} is not a Python program (a wrapper script cannot be shown to the sandbox)")
    raise UsageError(f"{prefix} has no bin/python that exists; make the environment again (python3 -m venv {prefix})")


def _pyvenv(prefix: str) -> dict[str, str]:
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            lines = file.read(1 << 16).splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _hops(path: str) -> Iterator[str]:
    """The prefix of every file on the way from a symbolic link to the program itself."""
    for _ in range(16):
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield _parent(os.path.dirname(path))
    yield _parent(os.path.dirname(os.path.realpath(path)))


def _mounts(prefixes: list[str], root: str) -> tuple[Mount, ...]:
    mounts: dict[str, str] = {}
    for prefix in prefixes:
        real = os.path.realpath(prefix)
        if _provided(real) and _provided(prefix):
            continue
        _check(prefix, real, root)
        mounts[prefix] = real
        mounts[real] = real
    outer = [t for t in mounts if not any(t != o and t.startswith(o + "/") and mounts[o] == o for o in mounts)]
    return tuple(Mount(source=mounts[t], target=t) for t in sorted(outer))


def _check(prefix: str, real: str, root: str) -> None:
    lib = os.path.join(real, "lib")
    names = os.listdir(lib) if os.path.isdir(lib) else []
    genuine = any(
        _VERSION.match(n)
        and (os.path.isfile(os.path.join(lib, n, "os.py")) or os.path.isfile(os.path.join(real, "pyvenv.cfg")))
        for n in names
    )
    if not genuine:
        raise UsageError(f"{prefix} is named as a Python installation but is none (no lib/python3.*/os.py in it)")
    for kept in (os.path.realpath(os.path.expanduser("~")), os.path.realpath(root)):
        if (kept + "/").startswith(real.rstrip("/") + "/"):
            raise UsageError(f"{prefix} holds {kept}; the sandbox shows no folder that private files lie in")


def _provided(path: str) -> bool:
    return any((path + "/").startswith(p + "/") for p in _PROVIDED)


def _sites(base: str, version: str) -> list[str]:
    found = [os.path.join(base, "lib", version, "site-packages")]
    if base == "/usr":
        found += ["/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}/dist-packages"]
    return found


def _scripts(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(n for n in os.listdir(folder) if os.access(os.path.join(folder, n), os.X_OK)))
    except OSError:
        return ()
