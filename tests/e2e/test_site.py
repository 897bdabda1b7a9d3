"""The documentation: the site builds without a network, and the quickstart does what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from referee.cli.app import app

ROOT = Path(__file__).parents[2]
NO_NETWORK = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https")}


@pytest.mark.slow
def test_the_site_builds_and_its_reference_is_of_this_code(tmp_path: Path) -> None:
    """With a page that nobody has sorted into the navigation; a broken link, or a page left out, is an error."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "site", tmp_path / "site", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs" / "fresh.md").write_text("# A fresh page\n\nSee [the start](index.md).\n")
    env = {**os.environ, **NO_NETWORK, "PYTHONDONTWRITEBYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"}
    argv = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", "site/mkdocs.yml", "-d", "../built"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "built"
    commands = (built / "reference" / "commands.html").read_text()
    assert all(f"referee {name}" in commands for name in get_command(app).commands)  # type: ignore[attr-defined]
    assert "REFEREE_MAX_STEPS" in (built / "reference" / "settings.html").read_text()
    assert "stop_reason" in (built / "reference" / "documents.html").read_text()
    assert "rollback" in (built / "reference" / "python" / "referee.api.html").read_text()
    assert "fresh.html" in (built / "index.html").read_text()
    assert not list(built.rglob("*.py"))


@pytest.mark.slow
def test_the_quickstart_repairs_a_bug(tmp_path: Path) -> None:
    """Its own blocks, in order, up to where a model is needed."""
    part = (ROOT / "docs" / "quickstart.md").read_text().partition("## Repair a bug")[2].partition("## With a model")[0]
    make, _, fix, look = (p.partition("```")[0] for p in part.split("```sh\n")[1:])
    run = (
        "RUN=$(referee runs --json | python -c 'import json, sys; print(json.loads(sys.stdin.readline())[\"run_id\"])')"
    )
    script = [
        "set -e", make, fix, "grep -q 'sum(prices) - discount' cart.py",
        run, look.replace("rollback RUN", 'rollback "$RUN"'), "grep -q 'sum(prices) + discount' cart.py",
    ]  # fmt: skip
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REFEREE_", "XDG_", "GIT_", "VIRTUAL_ENV"))}
    env = kept | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
