"""For any tree and any patch: landing then rolling back is identity, and all ways to a tree agree."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.adapters.git import GitWorkspace
from referee.domain.errors import Rejected
from referee.domain.patch import FileContent, Patch, patch_of

NAMES = st.sampled_from(
    ["a", "b.py", "a-b", "a.b", "A", "ü", "sp ace", "new\nline", "-x", 'q"t', "t\tb", "\udcff", "z0"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
BYTES = st.one_of(
    st.sampled_from([b"", b"\n", b"a\n", b"a\r\nb\r", b"no end", b"\0bin", b"$Id$\n", "é\n".encode("utf-16-le")]),
    st.binary(max_size=40),
)
FILES = st.dictionaries(PATHS, st.builds(FileContent, data=BYTES, executable=st.booleans()), max_size=8)
EXAMPLES = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def encoded(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def possible(files: dict[str, FileContent]) -> dict[str, FileContent]:
    """Without files that lie inside another file."""
    return {p: f for p, f in files.items() if not any(p.startswith(q + "/") for q in files)}


def write(root: Path, files: dict[str, FileContent]) -> None:
    for path, content in files.items():
        whole = os.path.join(os.fsencode(root), encoded(path))
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(content.data)
        os.chmod(whole, 0o755 if content.executable else 0o644)


def on_disk(root: Path) -> dict[str, FileContent]:
    found = {}
    for folder, folders, names in os.walk(os.fsencode(root)):
        folders[:] = [f for f in folders if f not in (b".git", b".harness")]
        for name in names:
            whole = os.path.join(folder, name)
            path = os.path.relpath(whole, os.fsencode(root)).decode("utf-8", "surrogateescape")
            with open(whole, "rb") as file:
                found[path] = FileContent(data=file.read(), executable=bool(os.stat(whole).st_mode & 0o100))
    return found


def folders(root: Path) -> set[bytes]:
    return {d for d, _, _ in os.walk(os.fsencode(root)) if b"/.git" not in d and b"/.harness" not in d}


def git(root: Path, *args: str, stdin: bytes = b"") -> None:
    subprocess.run(["git", *args], cwd=root, input=stdin, env=ENVIRONMENT, check=True, capture_output=True)


@pytest.mark.slow
@EXAMPLES
@given(files=FILES.map(possible), changes=FILES, deleted=st.sets(st.integers(0, 7)), staged=st.booleans())
def test_any_patch_lands_and_rolls_back(
    tmp_path: Path, files: dict[str, FileContent], changes: dict[str, FileContent], deleted: set[int], staged: bool
) -> None:
    root = tmp_path / "r"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    git(root, "init", "-q")
    write(root, files)
    if staged:
        git(root, "add", "-A")
    wanted: dict[str, FileContent | None] = dict(changes)
    wanted |= {path: None for i, path in enumerate(sorted(files)) if i in deleted}
    before, were = on_disk(root), folders(root)
    workspace = GitWorkspace(str(root))
    try:
        check(workspace, root, patch_of(wanted), before)
        assert on_disk(root) == before
        assert folders(root) == were
    finally:
        workspace.close()


def check(workspace: GitWorkspace, root: Path, patch: Patch, before: dict[str, FileContent]) -> None:
    tree = workspace.snapshot("run").tree
    assert {p: workspace.read(tree, p) for p in workspace.paths(tree)} == {p: c.data for p, c in before.items()}
    try:
        after = workspace.apply(tree, patch)
    except Rejected as refused:
        assert {f.path for f in refused.findings} <= set(patch.touched)
        return
    result = {**before, **{c.path: c.after for c in patch.changes}}
    wanted = {p: c for p, c in result.items() if c is not None}
    assert on_disk(Path(workspace.base(after, lambda _: False).path)) == wanted
    copy = root.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", ".harness"))
    if difference := workspace.diff(tree, after):
        git(copy, "apply", "--whitespace=nowarn", "-", stdin=difference)
    assert on_disk(copy) == wanted
    landing = workspace.land("run", tree, after)
    assert not landing.conflicts
    assert on_disk(root) == wanted
    assert workspace.snapshot("again").tree == after
    restoration = workspace.rollback("run")
    assert restoration.restored == landing.written
    assert not restoration.kept
    assert not restoration.failed
    assert workspace.snapshot("end").tree == tree
