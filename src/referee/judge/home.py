"""Which of a repository's projects is meant: one repository may hold several, each with its own settings and Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from referee.judge.pytest_config import PytestConfig, Read

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")


def home(paths: Sequence[str], guarded: Callable[[str], bool], meant: Iterable[str]) -> str:
    """The folder of the project that all of `meant` (targets, or the folder one works in) belong to.

    Empty for the repository itself. With nothing meant, the only project there is, if the root is none.
    """
    folders = {p.rpartition("/")[0] for p in paths if p.rpartition("/")[2] in _MARKS}
    inner = sorted((f for f in folders if f and not guarded(f"{f}/x")), key=len, reverse=True)
    asked = [m.partition("::")[0].strip("/") for m in meant]
    if asked:
        chosen = {next((f for f in inner if a == f or a.startswith(f + "/")), "") for a in asked}
        return chosen.pop() if len(chosen) == 1 else ""
    outer = [f for f in inner if not any(f.startswith(o + "/") for o in inner)]
    python_at_root = any(p.endswith(".py") for p in paths if p.partition("/")[0] in ("src", "tests") or "/" not in p)
    return outer[0] if len(outer) == 1 and "" not in folders and not python_at_root else ""


def below(read: Read, folder: str) -> Read:
    """Reading as if `folder` were the root."""
    return (lambda path: read(f"{folder}/{path}")) if folder else read


def moved(config: PytestConfig, folder: str) -> PytestConfig:
    """A configuration read in `folder`, with its paths as seen from the root."""
    if not folder:
        return config

    def within(path: str) -> str:
        return f"{folder}/{path.strip('/')}" if path.strip("./") else folder

    return config.model_copy(
        update={
            "file": within(config.file) if config.file else "",
            "pythonpath": tuple(map(within, config.pythonpath)),
            "testpaths": tuple(map(within, config.testpaths)),
        }
    )
