"""Folders shown from the host: read-only, or under a layer that dies with the command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_boxes import AN_ORDINARY_USER, PYTHON, OtherUser

from referee.adapters.sandbox import sandbox_owner
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.ports import Base, Command, Execution, Job, Mount, Sandbox

SCRIPT = """\
import os
def main(argv):
    print(sorted(os.listdir(argv[0])), flush=True)
    open(argv[0] + "/made", "w").write("x")
    return 0
"""


@pytest.fixture(params=["own user", "ordinary user"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "ordinary user" and os.geteuid() != 0:
        pytest.skip("we are an ordinary user already")
    make = lambda: UsernsSandbox(python=PYTHON)  # noqa: E731 - called in another process
    made = make() if request.param == "own user" else OtherUser(make, AN_ORDINARY_USER)
    yield made
    made.close()


@pytest.fixture
def place(sandbox: Sandbox) -> Iterator[Path]:
    """A folder that the sandbox's user can walk to: a base, a folder of packages, a script."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        top = Path(folder)
        for name in ("base", "packages/dep"):
            (top / name).mkdir(parents=True)
        (top / "packages/dep/index.js").write_text("1\n")
        (top / "entry.py").write_text(SCRIPT)
        other = (AN_ORDINARY_USER, AN_ORDINARY_USER) if isinstance(sandbox, OtherUser) else None
        if owner := other or sandbox_owner():
            os.chown(top / "base", *owner)
        yield top


def run(sandbox: Sandbox, place: Path, at: str, layered: bool, script: str) -> Execution:
    mount = Mount(source=f"{place}/packages", target=f"{at}/web/node_modules", layered=layered)
    base = Base(tree="t", path=f"{place}/base", mount_at=at)
    return sandbox.run(Command(argv=("sh", "-c", script), base=base, cwd=f"{at}/web/node_modules", mounts=(mount,)))


@pytest.mark.parametrize("at", ["/home/dev/project", "/tmp/project", "/tmp/deep/er/project"])
def test_a_layered_folder_takes_files_and_the_hosts_stays(sandbox: Sandbox, place: Path, at: str) -> None:
    script = "cat dep/index.js && mkdir .cache && echo y >.cache/x && cat .cache/x && ls -A ../.."
    for _ in range(2):
        ended = run(sandbox, place, at, True, script)
        assert (ended.stdout, ended.stderr) == (b"1\ny\nweb\n", b"")
    assert os.listdir(place / "packages") == ["dep"]


@pytest.mark.parametrize("at", ["/home/dev/project", "/tmp/project"])
def test_a_plain_mount_in_a_repository_stays_read_only(sandbox: Sandbox, place: Path, at: str) -> None:
    ended = run(sandbox, place, at, False, "cat dep/index.js; echo y > made")
    assert ended.stdout == b"1\n"
    assert b"Read-only" in ended.stderr


def test_each_job_of_a_warm_process_has_layers_of_its_own(sandbox: Sandbox, place: Path) -> None:
    folder = "/home/dev/project/node_modules"
    command = Command(
        argv=(PYTHON, "-I", "-B", "/opt/entry.py"),
        base=Base(tree="t", path=f"{place}/base", mount_at="/home/dev/project"),
        mounts=(
            Mount(source=f"{place}/packages", target=folder, layered=True),
            Mount(source=f"{place}/entry.py", target="/opt/entry.py"),
        ),
    )
    warm = sandbox.warm(command)
    for _ in range(2):
        ended = warm.run(Job(argv=(folder,)))
        assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"['dep']\n", b"")
