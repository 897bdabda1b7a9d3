"""How the container backend speaks to an engine, with an executable that plays one."""

from __future__ import annotations

import itertools
import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest

from referee.adapters.sandbox.container import ContainerSandbox
from referee.adapters.sandbox.container_arguments import arguments, image
from referee.adapters.sandbox.requests import run_request
from referee.adapters.sandbox.stage.request import Bind
from referee.adapters.sandbox.stage.view import BASE
from referee.domain.errors import WorldFault
from referee.domain.patch import patch_of
from referee.ports import Base, Command, Limits

SCRIPT = """#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + chr(10))
box = next((f.split("=", 1)[1] for a in sys.argv for f in a.split(",")
            if f.startswith("source=") and "referee-box-" in f), "")
def report(secret=None, **told):
    found = dict(fault=None, killed_by=None, exit_code=0, left=False, cpu=.1, peak=1, seconds=.2)
    with open(box + "/report", "wb", buffering=0) as pipe:
        secret = secret if secret is not None else open(box + "/secret", "rb", buffering=0).read(32)
        pipe.write(secret + b"0" + json.dumps({{**found, **told}}).encode())
{code}
"""
Play = Callable[[str], ContainerSandbox]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def play(tmp_path: Path, log: Path) -> Iterator[Play]:
    """A sandbox whose engine runs `code` for `run`, and agrees to everything else."""
    opened: list[ContainerSandbox] = []

    def make(code: str) -> ContainerSandbox:
        body = "if sys.argv[1] == 'run':\n" + "".join(f"    {line}\n" for line in code.splitlines())
        program = tmp_path / "podman"
        program.write_text(SCRIPT.format(python=sys.executable, log=str(log), code=body))
        program.chmod(0o755)
        opened.append(ContainerSandbox(program=str(program)))
        return opened[-1]

    yield make
    for sandbox in opened:
        sandbox.close()


def calls(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_container_is_started_isolated_bounded_and_removed(play: Play, log: Path) -> None:
    sandbox = play("print('out'); print('err', file=sys.stderr); report(exit_code=7)")
    ended = sandbox.run(Command(argv=("true",), limits=Limits(memory_bytes=1 << 30, processes=50)))
    assert (ended.exit_code, ended.stdout, ended.stderr) == (7, b"out\n", b"err\n")
    assert (ended.cpu_seconds, ended.peak_memory_bytes, ended.duration_ms) == (0.1, 1, 200)
    run = next(c for c in calls(log) if c[0] == "run")
    pairs = list(itertools.pairwise(run))
    for pair in (
        ("--network", "none"), ("--cap-drop", "ALL"), ("--security-opt", "no-new-privileges"), ("--pull", "never"),
        ("--memory", str((1 << 30) + (64 << 20))), ("--memory-swap", str((1 << 30) + (64 << 20))),
        ("--pids-limit", "54"), ("--ipc", "private"),
    ):  # fmt: skip
        assert pair in pairs, pair
    assert {"--rm", "--read-only", "--passwd=false"} <= set(run)
    assert "0:0" not in run[run.index("--user") + 1]
    assert all(m.endswith("readonly") for n, m in itertools.pairwise(run) if n == "--mount")
    assert not any(a in ("-v", "--volume", "--privileged", "--device") for a in run)


def test_an_image_is_imported_once_and_only_if_it_is_missing(play: Play, log: Path) -> None:
    sandbox = play("report()")
    for _ in range(2):
        sandbox.run(Command(argv=("true",)))
    assert [c[0] for c in calls(log)] == ["image", "run", "run"]
    name, archive = image()
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        assert {m.type for m in tar.getmembers()} <= {tarfile.DIRTYPE, tarfile.SYMTYPE}
    assert name == image()[0]


def test_an_engine_that_cannot_start_says_why(play: Play) -> None:
    """Case D19: it is the world's fault, not the command's."""
    sandbox = play("print('Error: no permission', file=sys.stderr); sys.exit(125)")
    with pytest.raises(WorldFault, match="could not be started: Error: no permission"):
        sandbox.run(Command(argv=("true",)))


def test_a_report_without_the_secret_is_none(play: Play) -> None:
    """What runs inside may find the pipe; it cannot know what must come first."""
    sandbox = play("report(secret=b'x' * 32, exit_code=0)")
    with pytest.raises(WorldFault, match="could not be started"):
        sandbox.run(Command(argv=("true",)))
    honest = play("report(secret=b'junk', exit_code=0); report(exit_code=3)")
    assert honest.run(Command(argv=("true",))).exit_code == 3


def test_a_flood_ends_the_container(play: Play, log: Path) -> None:
    sandbox = play("import time\nfor _ in range(200): os.write(1, b'x' * 65536)\nreport(exit_code=0)")
    ended = sandbox.run(Command(argv=("true",), limits=Limits(output_bytes=1000)))
    assert (ended.exit_code, ended.killed_by) == (None, "output")
    assert len(ended.stdout) < 1_100
    killed = next(c for c in calls(log) if c[0] == "kill")
    run = next(c for c in calls(log) if c[0] == "run")
    assert killed[1] == run[run.index("--name") + 1]


def test_what_is_interrupted_is_removed(play: Play, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.adapters.sandbox import container_run

    monkeypatch.setattr(container_run, "_SPARE_SECONDS", 0.2)
    sandbox = play("import time; time.sleep(60)")
    with pytest.raises(WorldFault, match="did not end the container in time"):
        sandbox.run(Command(argv=("true",), limits=Limits(wall_seconds=0.2)))
    assert calls(log)[-1][:2] == ["rm", "--force"]


def test_no_engine_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorldFault, match="no program 'podman or docker'; install podman"):
        ContainerSandbox().run(Command(argv=("true",)))


def test_a_path_with_a_comma_stays_one_field() -> None:
    base = Base(tree="t", path='/odd,"path', mount_at="/home/dev/p", protected=("tests/a,b",))
    request = run_request(Command(argv=("true",), base=base, patch=patch_of({})))
    argv = arguments(request, [Bind(base.path, BASE)], "name", (1, 1), podman=False)
    assert f'type=bind,"source=/odd,""path",target={BASE},readonly' in argv
    assert 'type=bind,"source=/odd,""path/tests/a,b","target=/home/dev/p/tests/a,b",readonly' in argv
    assert "--passwd=false" not in argv
    tmpfs = [a.split(":")[0] for n, a in itertools.pairwise(argv) if n == "--tmpfs"]
    assert "/home/dev/p" in tmpfs
    assert "/home/dev/p/tests" in tmpfs, "a mount point cannot be renamed"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_does_not_run_commands_as_root(play: Play, log: Path) -> None:
    play("report()").run(Command(argv=("true",)))
    run = next(c for c in calls(log) if c[0] == "run")
    assert run[run.index("--user") + 1] == "65532:65532"
