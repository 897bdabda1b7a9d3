"""The judge on suites of published packages: does it see what plain pytest sees, and accuse nobody?

    python benchmarks/false_alarms.py FOLDER [PACKAGE ...]

Each package is fetched as source with pip into FOLDER (once), given an environment of its own, and its suite is run
three times: by plain pytest, by the judge on the tree as it is, and by the judge on a patch that appends a comment to
every source file. Bars: the same outcome of every test each time, and no finding of tampering.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

from referee.actions.execute import Execute
from referee.api.tools import _base, unrecorded
from referee.config import load
from referee.domain.finding import FindingKind
from referee.domain.layer import Layer
from referee.domain.patch import FileContent, Patch, patch_of
from referee.judge import plan, ruling, stream
from referee.judge.evidence import Evidence, Expected, Known, known_from
from referee.judge.plan import TestRun
from referee.wiring import Desk

# What each suite needs besides pytest and the package itself.
PACKAGES: dict[str, tuple[str, ...]] = {
    "attrs": ("hypothesis", "cloudpickle", "pytest-xdist"),
    "boltons": (),
    "cachetools": (),
    "click": (),
    "flask": ("pytest<9", "python-dotenv", "asgiref"),
    "humanize": ("freezegun",),
    "idna": ("hypothesis",),
    "iniconfig": (),
    "itsdangerous": ("freezegun",),
    "jinja2": ("trio",),
    "jsonschema": (),
    "markupsafe": (),
    "more-itertools": (),
    "pluggy": (),
    "packaging": ("pretend", "hypothesis", "tomli_w"),
    "pyparsing": (),
    "python-dateutil": ("freezegun", "hypothesis", "pytest-subtests", "pytest-cov"),
    "requests": ("pytest-httpbin", "pytest-mock", "trustme", "PySocks"),
    "sqlparse": (),
    "tabulate": (),
    "toolz": (),
    "wcwidth": ("hypothesis",),
    "werkzeug": ("ephemeral-port-reserve", "cryptography", "watchdog", "pytest-timeout", "cffi"),
}
SECONDS = float(os.environ.get("SECONDS", "600"))  # for one run of one suite
_RECORD = """
import json, os
RANK = ["passed", "xpassed", "xfailed", "skipped", "failed", "error"]
SEEN = {}
def pytest_runtest_logreport(report):
    how = report.outcome
    if how == "failed" and report.when != "call":
        how = "error"
    elif hasattr(report, "wasxfail"):
        how = {"skipped": "xfailed", "passed": "xpassed"}.get(how, how) if report.when == "call" else how
    SEEN[report.nodeid] = max(SEEN.get(report.nodeid, "passed"), how, key=RANK.index)
def pytest_sessionfinish():
    with open(os.environ["OUTCOMES"], "w") as file:
        json.dump(SEEN, file)
"""


def main() -> None:
    """Print a row per package; exit 1 if any bar is missed."""
    folder, *names = sys.argv[1:]
    print("| package | tests | plain pytest, s | judge, s | other outcomes | findings of tampering |", flush=True)
    print("|---|---|---|---|---|---|", flush=True)
    bad = 0
    for name in names or PACKAGES:
        repo = fetched(Path(folder).resolve(), name)
        plain, slow = plainly(repo)
        unlike, seconds, tampering = judged(str(repo), plain)
        version = repo.name.rpartition("-")[2]
        print(
            f"| {name} {version} | {len(plain)} | {slow:.1f} | {seconds:.1f} | {len(unlike)} | {len(tampering)} |",
            flush=True,
        )
        for words in (*unlike[:5], *tampering[:5]):
            print(f"    {words}", file=sys.stderr, flush=True)
        bad += bool(unlike or tampering or not plain)
    sys.exit(1 if bad else 0)


def fetched(folder: Path, name: str) -> Path:
    """The package as a repository with an environment in it."""
    folder.mkdir(exist_ok=True)
    pattern = f"{name.replace('-', '_')}-*"
    ready = [p for p in folder.glob(pattern) if (p / ".git" / "HEAD").exists()]
    if ready:
        return ready[0]
    tools = folder / "aside" / "tools"  # this environment may have no pip of its own
    if not tools.exists():
        run(folder, sys.executable, "-m", "venv", str(tools))
    run(folder, f"{tools}/bin/python", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, name)
    archive = next(folder.glob(f"{pattern}.tar.gz"))
    with tarfile.open(archive) as tar:
        # Python 3.11 knows the filter since its fourth release.
        tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    repo = folder / archive.name.removesuffix(".tar.gz")
    run(repo, sys.executable, "-m", "venv", ".venv")
    run(repo, ".venv/bin/python", "-m", "pip", "install", "-q", "pytest", *PACKAGES.get(name, ()), "-e", ".")
    (repo / ".gitignore").write_text(".venv/\n__pycache__/\n*.egg-info/\n")
    run(repo, "git", "init", "-q")
    run(repo, "git", "add", "-A")
    run(repo, "git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "as published")
    return repo


def run(folder: Path, *command: str) -> None:
    """One command in a folder, which must succeed."""
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def plainly(repo: Path) -> tuple[Mapping[str, str], float]:
    """The outcomes under plain pytest, as in a shell, and the seconds it took."""
    aside = repo.parent / "aside"
    aside.mkdir(exist_ok=True)
    (aside / "record_outcomes.py").write_text(_RECORD)
    into = aside / f"{repo.name}.json"
    env = {"PATH": f"{repo}/.venv/bin:/usr/bin:/bin", "HOME": str(aside), "PYTHONPATH": str(aside), "LANG": "C.UTF-8"}
    env |= {"OUTCOMES": str(into), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    command = [".venv/bin/python", "-m", "pytest", "-q", "--tb=no", "-p", "record_outcomes", "-p", "no:cacheprovider"]
    into.unlink(missing_ok=True)
    began = time.monotonic()
    subprocess.run(
        command, cwd=repo, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
    )
    seconds = time.monotonic() - began
    return json.loads(into.read_text()) if into.exists() else {}, seconds


def judged(repo: str, plain: Mapping[str, str]) -> tuple[list[str], float, list[str]]:
    """Tests with another outcome, the judge's seconds on the tree as it is, and what it calls tampering."""
    config = load(repo, flags={"budget.timeout": 4 * SECONDS}, variables={"HOME": os.environ["HOME"]}, user_file="")
    with Desk(repo, config) as desk:
        player = unrecorded(desk, config.budget, None)
        base = _base(desk, player)
        project = desk.project(base.tree)

        def under(patch: Patch, known: Known) -> tuple[stream.Report, list[str], float]:
            what = TestRun(test_seconds=60.0)
            execution = player.perform(Execute(command=plan.command(project, base, patch, what, SECONDS)))
            report = stream.read(execution.channel, execution.key)
            expected = Expected(whole=True)
            evidence = Evidence(check="suite", layer=Layer.SUITE, execution=execution, expected=expected, known=known)
            found = ruling.rule(evidence, report).findings
            told = [f"tampering: {f.message}" for f in found if f.kind is FindingKind.TAMPER]
            return report, told, execution.duration_ms / 1000

        report, _, seconds = under(Patch(), Known())
        sources = [p for p in player.paths(base.tree) if p.endswith(".py") and not config.protection.guarded(p)]
        texts = {p: player.read(base.tree, p) or b"" for p in sources}
        patch = patch_of({p: FileContent(data=t + b"\n# one line more\n") for p, t in texts.items() if t.strip()})
        again, tampering, _ = under(patch, known_from(report))
    unlike = [
        f"{test}: {how} under {who}, {plain.get(test, 'missing')} under plain pytest"
        for who, seen in (("the judge", report.outcomes), ("the judge with a patch", again.outcomes))
        for test, how in ({**dict.fromkeys(plain, "missing"), **seen}).items()
        if plain.get(test, "missing") != how
    ]
    return unlike, seconds, tampering


if __name__ == "__main__":
    main()
