"""What a command in the sandbox finds: the project importable, git at work, nothing secret, and nothing kept."""

from __future__ import annotations

from pathlib import Path

import small

from referee import api
from referee.config import load


def inside(repo: Path, script: str) -> str:
    """What a shell script prints in the sandbox."""
    ended = api.sandbox(("sh", "-c", script), str(repo), load(str(repo), variables={}, user_file=""))
    assert ended.exit_code == 0, ended.stderr.decode()
    return ended.stdout.decode()


def test_generated_modules_import_git_works_and_secrets_are_not_there(tmp_path: Path) -> None:
    """Cases H3 and D17, and generated files that stay in the upper layer."""
    files = {
        ".gitignore": "_version.py\n.env\n.npmrc\n*.key\nout/\n",
        "pkg/__init__.py": "from pkg._version import version\n",
        "calc.py": small.FIXED,
        "tests/test_calc.py": small.TESTS,
    }
    repo = small.build(tmp_path / "repo", files)
    small.git(repo, "tag", "v1.2")
    for name, text in {"pkg/_version.py": "version = '1.2'\n", ".env": "K=hunter2\n", ".npmrc": "x\n"}.items():
        (repo / name).write_text(text)
    (repo / "server.key").write_text("k\n")
    before = {p for p in repo.rglob("*") if ".harness" not in p.parts}
    said = inside(
        repo,
        "python3 -B -c 'import pkg; print(pkg.version, pkg.__file__)'; git status --porcelain; git describe --tags;"
        "git log --format=%s; mkdir out; echo x > out/made; echo y >> calc.py; git status --porcelain;"
        "ls -A; cat .env server.key .npmrc 2>/dev/null; true",
    ).splitlines()
    assert said[:4] == [f"1.2 {repo}/pkg/__init__.py", "v1.2", "Snapshot of the repository", " M calc.py"]
    assert {p for p in repo.rglob("*") if ".harness" not in p.parts} == before
    assert set(said[4:]) == {".git", ".gitignore", "calc.py", "out", "pkg", "tests"}
    assert (repo / "calc.py").read_text() == small.FIXED
