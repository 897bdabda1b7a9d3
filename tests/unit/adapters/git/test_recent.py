"""A snapshot that looks at changed files only finds what one that looks at everything finds."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.ports import Snapshot

NAMES = ("src/a.py", "src/b.py", "run.sh", "notes", "lib/_version.py", "lib/local.py", ".env", "x.log", "deep/er/f.txt")
TURNS = int(os.environ.get("REFEREE_SNAPSHOTS", "25"))


def write(root: Path, name: str, chance: random.Random) -> None:
    clear(root, name)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(b"# %d\n" % chance.randrange(3))


def clear(root: Path, name: str, _: object = None) -> None:
    for path in (*reversed((root / name).parents), root / name):
        ours = path.is_relative_to(root) and path != root and os.path.lexists(path)
        if ours and (path.is_symlink() or not path.is_dir()):
            path.unlink()
    if (root / name).is_dir():
        os.rename(root / name, root / f"aside{len(list(root.glob('aside*')))}")


def link(root: Path, name: str, _: random.Random) -> None:
    clear(root, name)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to("src/a.py")


def folder(root: Path, name: str, _: random.Random) -> None:
    clear(root, name)
    (root / name).mkdir(parents=True)
    (root / name / "inner.txt").write_text("x")


def pipe(root: Path, name: str, _: random.Random) -> None:
    clear(root, name)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(root / name)


def parent_link(root: Path, name: str, _: random.Random) -> None:
    above = (root / name).parent
    if above != root and above.is_dir() and not above.is_symlink():
        os.rename(above, root / f"aside{len(list(root.glob('aside*')))}")
        above.symlink_to("aside0")


def mode(root: Path, name: str, chance: random.Random) -> None:
    if (root / name).is_file() and not (root / name).is_symlink():
        (root / name).chmod(chance.choice((0o644, 0o755)))


def grow(root: Path, name: str, chance: random.Random) -> None:
    if (root / name).is_file() and not (root / name).is_symlink():
        os.truncate(root / name, chance.choice((3, 65 << 20)))


def stage(root: Path, *_: object) -> None:
    oracle.git(root, "add", "-A", "--", "src", check=False)


def commit(root: Path, *_: object) -> None:
    oracle.git(root, "commit", "-qam", "more", check=False)


def touch(root: Path, name: str, _: random.Random) -> None:
    if (root / name).is_file():
        os.utime(root / name)


def rules(root: Path, _: str, chance: random.Random) -> None:
    (root / ".gitignore").write_text("*.log\n_version.py\nlocal.py\n" + chance.choice(("", "notes\n")))


ACTS: tuple[Callable[[Path, str, random.Random], None], ...] = (
    write, write, write, clear, link, folder, pipe, parent_link, mode, grow, stage, commit, touch, touch, rules,
)  # fmt: skip


def act(root: Path, chance: random.Random) -> str:
    does, name = chance.choice(ACTS), chance.choice(NAMES)
    # What lies behind a link belongs to another name.
    does(root, name, chance)
    return f"{getattr(does, '__name__', '')} {name}"


def test_it_is_what_a_whole_look_finds(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    oracle.write(root, "lib/__init__.py", b"")
    oracle.git(root, "add", "-A")
    chance = random.Random(20_260)
    workspace, known, quick = oracle.workspace(root), root / ".harness/git/recent", 0
    done = []
    for turn in range(TURNS):
        done.append(act(root, chance))
        kept = known.read_bytes() if known.exists() else b""
        looked: list[Snapshot] = [workspace.snapshot(f"quick{turn}")]
        same_listing = kept and known.exists() and known.read_bytes().split(b'"tree"')[0] == kept.split(b'"tree"')[0]
        quick += bool(same_listing)
        known.unlink(missing_ok=True)
        looked.append(workspace.snapshot(f"whole{turn}"))
        first, second = (s.model_copy(update={"omitted": tuple(sorted(s.omitted))}) for s in looked)
        assert first == second, (done, workspace.diff(first.tree, second.tree))
        for path in workspace.paths(first.tree):
            workspace.read(first.tree, path)
    assert quick > 0


def _armed(root: Path) -> GitWorkspace:
    """A repository whose loose files one look tells, as the third snapshot does: the second found them unchanged."""
    oracle.write(root, ".gitignore", b"build/\n*.log\n")
    oracle.git(root, "add", "-A")
    oracle.git(root, "commit", "-qm", "two")
    oracle.write(root, "build/made.txt", b"1\n")
    oracle.write(root, "x.log", b"1\n")
    oracle.write(root, "new.py", b"1\n")
    workspace = oracle.workspace(root)
    for name in ("one", "two"):
        tree = workspace.snapshot(name).tree
    assert json.loads((root / ".harness/git/recent").read_bytes())["loose"]
    assert workspace.snapshot("three").tree == tree
    return workspace


@pytest.mark.parametrize(
    ("path", "text", "shows"),
    [
        ("src/c.py", "1\n", "src/c.py"),
        ("fresh/c.py", "1\n", "fresh/c.py"),
        (".gitignore", "*.log\n", "build/made.txt"),
        ("build/.gitignore", "!made.txt\n", ""),
        (".gitignore", "build/\n", "x.log"),
        (".git/info/exclude", "new.py\n", "-new.py"),
        ("../home/.config/git/ignore", "new.py\n", "-new.py"),
        ("src/.gitignore", "a.py\n", "src/.gitignore"),
        ("build/more.txt", "1\n", ""),
    ],
)
def test_one_look_at_loose_files_says_what_two_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, text: str, shows: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = oracle.small(tmp_path / "r")
    workspace = _armed(root)
    before = set(workspace.paths(workspace.snapshot("four").tree))
    oracle.write(root, path, text.encode())
    after = set(workspace.paths(workspace.snapshot("five").tree))
    assert after ^ before == ({shows.removeprefix("-")} if shows else set())
    assert after == set(workspace.paths(workspace.snapshot("six").tree))


def test_a_folder_that_only_happens_to_hold_what_is_ignored_needs_two_looks(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = _armed(root)
    oracle.write(root, "cache/x.log", b"1\n")
    for name in ("five", "six", "seven"):
        workspace.snapshot(name)
    assert not json.loads((root / ".harness/git/recent").read_bytes())["loose"]
    oracle.write(root, "cache/real.py", b"1\n")
    assert "cache/real.py" in workspace.paths(workspace.snapshot("eight").tree)


def test_what_it_took_for_stored_is_stored_again_when_it_was_removed(tmp_path: Path) -> None:
    root = oracle.small(tmp_path / "r")
    workspace = oracle.workspace(root)
    oracle.write(root, "src/a.py", b"x = 5\n")
    workspace.snapshot("one")
    os.utime(root / ".harness/snapshots/one", (1, 1))
    workspace.collect(days=1)
    again = workspace.snapshot("two").tree
    assert workspace.read(again, "src/a.py") == b"x = 5\n"
