"""B3: floods, bombs and daemons. What they are after is bounded, and nobody survives."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_boxes import PYTHON, Box, quick

from referee.domain.errors import WorldFault

MB = 1 << 20


def alive(marker: str) -> list[int]:
    """Processes of this machine with `marker` as one of their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if marker.encode() in Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0"):
                    found.append(int(name))
            except OSError:
                continue
    return found


def eventually(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False


def marker() -> str:
    """An argument for `sleep` that no other process of this machine has."""
    return f"{os.getpid()}.{time.monotonic_ns() % 10**9}"


def test_the_search_for_survivors_finds_one() -> None:
    """The positive control of this file: an unbounded daemon does survive, and is seen."""
    mark = marker()
    subprocess.run(["sh", "-c", f"setsid sleep {mark} >/dev/null 2>&1 &"], check=True)
    assert eventually(lambda: len(alive(mark)) == 1)
    os.kill(alive(mark)[0], signal.SIGKILL)


@pytest.mark.parametrize("which", ("box", "bare"))
def test_daemons_die_with_the_command(which: str, request: pytest.FixtureRequest, bare: Box) -> None:
    """Case E3, and E1's second form: double fork, new session, output held open or closed, signals ignored."""
    each = bare if which == "bare" else request.getfixturevalue("userns")
    mark = marker()
    code = f"""
import os, signal
for n in range(8):
    if os.fork() == 0:
        os.setsid()
        for s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)
        if os.fork(): os._exit(0)
        if n % 2: os.closerange(0, 5)
        os.execvp("sleep", ["sleep", "{mark}"])
import time; time.sleep(.5)
print("done")
"""
    ended = each.python(code, limits=quick(30))
    assert (ended.exit_code, ended.stdout, ended.left_processes) == (0, b"done\n", True)
    assert alive(mark) == []


def test_a_time_limit_ends_the_whole_tree(box: Box) -> None:
    mark = marker()
    script = f"for n in 1 2 3 4 5 6 7 8; do (setsid sleep {mark} &) ; done; trap '' TERM INT HUP; sleep {mark}"
    assert box.sh(script, limits=quick(0.5)).killed_by == "wall"
    assert alive(mark) == []


def test_a_fork_bomb_is_bounded(box: Box) -> None:
    """Host processes never exceed the limit by more than the sandbox's own few; the bomb is named."""
    before = len([n for n in os.listdir("/proc") if n.isdigit()])
    code = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(.05)"
    ended = box.python(code, limits=quick(20, processes=40))
    assert ended.killed_by == "processes"
    after = len([n for n in os.listdir("/proc") if n.isdigit()])
    assert after < before + 40


def test_memory_over_many_processes_is_one_sum(box: Box) -> None:
    hog = "x = b'x' * (60 << 20); time.sleep(9); os._exit(0)"
    code = f"import os, time\nfor n in range(8):\n  if os.fork() == 0: {hog}\ntime.sleep(9)"
    ended = box.python(code, limits=quick(20, memory_bytes=200 * MB))
    assert ended.killed_by == "memory"
    assert ended.peak_memory_bytes < 400 * MB


def test_memory_shared_by_forks_counts_once(box: Box) -> None:
    code = (
        "import os, time\nx = b'x' * (100 << 20)\n"
        "for n in range(8):\n  if os.fork() == 0: time.sleep(.5); os._exit(0)\n"
        "for n in range(8): os.wait()\nprint('fine')"
    )
    ended = box.python(code, limits=quick(20, memory_bytes=300 * MB))
    assert (ended.stdout, ended.killed_by) == (b"fine\n", None)
    assert ended.peak_memory_bytes < 300 * MB


def test_a_reserve_that_is_not_touched_is_no_memory(box: Box) -> None:
    code = "import mmap; mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000); print('fine')"
    assert box.python(code, limits=quick(memory_bytes=200 * MB)).stdout == b"fine\n"


def test_shared_memory_that_nothing_counts_is_refused(box: Box, bare: Box) -> None:
    """System V segments, memfd and message queues would hold memory outside of every limit."""
    code = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
try: os.close(os.memfd_create("x")); print("memfd")
except OSError: pass
if libc.shmget(0, 4096, 0o1600) >= 0: print("shm")
if libc.msgget(0, 0o1600) >= 0: print("msg")
"""
    removed = "import subprocess; subprocess.run(['ipcrm', '--all'], check=True)" if os.geteuid() else ""
    assert bare.python(code + removed).stdout.split()[:1] == [b"memfd"]
    assert box.python(code).stdout == b""


def test_disk_is_one_bound_for_all_that_can_be_written(userns: Box) -> None:
    """40 MB here and there, 64 MB in all; alone each would fit."""
    base = userns.base({"a": ""})
    where = {"/tmp/f": 40, "/dev/shm/f": 40, "f": 40}
    script = "; ".join(f"head -c {size}M /dev/zero > {path}" for path, size in where.items())
    ended = userns.sh(script, base=base, cwd=base.mount_at, limits=quick(disk_bytes=64 * MB))
    assert ended.killed_by == "disk"
    one = userns.sh(
        "head -c 40M /dev/zero > f && echo fine", base=base, cwd=base.mount_at, limits=quick(disk_bytes=64 * MB)
    )
    assert one.stdout == b"fine\n"


def test_a_full_disk_stays_inside(box: Box) -> None:
    ended = box.sh("head -c 200M /dev/zero > /tmp/f; stat -c %s /tmp/f", limits=quick(disk_bytes=32 * MB))
    assert ended.killed_by == "disk" or int(ended.stdout) <= 32 * MB


def test_inodes_are_bounded(userns: Box) -> None:
    code = "import os\nfor n in range(100_000): open(f'/tmp/{n}', 'w').close()"
    assert userns.python(code, limits=quick(30, disk_bytes=16 * MB)).killed_by == "disk"


def test_the_root_cannot_be_filled(box: Box) -> None:
    assert (
        box.sh("for d in / /run /etc /dev /opt /home /var /root; do echo x > $d/x && echo written; done").stdout == b""
    )


@pytest.mark.slow
def test_an_output_flood_is_stopped_without_being_held(box: Box) -> None:
    """Cases E9, E10: a gigabyte in one line, lines without end, on both streams; the harness does not grow."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for script in ("head -c 1000000000 /dev/zero", "yes", "yes >&2"):
        ended = box.sh(script, limits=quick(60, output_bytes=MB))
        assert ended.killed_by == "output"
        assert len(ended.stdout) + len(ended.stderr) < 2 * MB
        assert 64 * MB < ended.stdout_total + ended.stderr_total < 400 * MB
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 32 * 1024, f"{grown} KiB"


def test_a_flood_of_frames_is_stopped(box: Box) -> None:
    code = "import os\nwhile True: os.write(4, b'x' * 65536)"
    ended = box.python(code, channel=True, limits=quick(20, channel_bytes=MB))
    assert ended.killed_by == "output"
    assert len(ended.channel) == MB


def test_files_open_are_bounded(box: Box) -> None:
    code = "import os\nn = 0\ntry:\n  while True: os.open('/dev/null', 0); n += 1\nexcept OSError: print(n < 64)"
    assert box.python(code, limits=quick(open_files=64)).stdout == b"True\n"


def test_no_core_is_left(box: Box) -> None:
    assert box.sh("ulimit -c; ulimit -Hc").stdout == b"0\n0\n"


def test_init_cannot_be_killed_from_inside(userns: Box) -> None:
    """The command may try to end what watches it."""
    ended = userns.sh("kill -9 1; kill -STOP 1; kill -9 -1; echo still here")
    assert ended.stdout == b"still here\n"
    assert userns.sh("kill -STOP 1; sleep 60", limits=quick(0.5)).killed_by == "wall"


HARNESS = """
import sys
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.adapters.sandbox.bare import BareSandbox
from referee.ports import Command, Limits
make = {"userns": UsernsSandbox, "bare": BareSandbox}[sys.argv[1]]
script = f"(setsid sleep {sys.argv[2]} &); sleep {sys.argv[2]}"
make().run(Command(argv=("sh", "-c", script), limits=Limits(wall_seconds=100)))
"""


@pytest.mark.parametrize("backend", ("userns", "bare"))
def test_nobody_survives_the_death_of_the_harness(backend: str) -> None:
    """SIGKILL leaves no time to clean up: what it started must notice by itself."""
    mark = marker()
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, backend, mark])
    assert eventually(lambda: len(alive(mark)) >= 3, 20)
    harness.kill()
    harness.wait()
    assert eventually(lambda: alive(mark) == [])


def test_the_death_of_the_fork_server_is_a_world_fault(userns: Box) -> None:
    """And nothing it ran survives it."""
    mark = marker()
    said: list[BaseException] = []

    def run() -> None:
        try:
            userns.sh(f"sleep {mark}", limits=quick(60))
        except WorldFault as e:
            said.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(lambda: len(alive(mark)) >= 1)
    userns.sandbox._server._process.kill()
    thread.join(10)
    assert said
    assert eventually(lambda: alive(mark) == [])
    with pytest.raises(WorldFault, match="server has ended"):
        userns.run("true")


def test_commands_from_many_threads(userns: Box) -> None:
    ended: list[bytes] = []
    threads = [threading.Thread(target=lambda n=n: ended.append(userns.sh(f"echo {n}").stdout)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == sorted(f"{n}\n".encode() for n in range(12))


def test_bubblewrap_that_does_not_work_is_a_world_fault(tmp_path: Path) -> None:
    """Case D19: it exits with 1, as a failing test would."""
    from referee.adapters.sandbox.bubblewrap import BubblewrapSandbox
    from referee.ports import Command

    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: no permission' >&2\nexit 1\n")
    fake.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)  # never less: the last may be everybody's
    for program, said in ((str(fake), "no permission"), ("no-such-bwrap", "install the package bubblewrap")):
        sandbox = BubblewrapSandbox(program=program, python=PYTHON)
        with pytest.raises(WorldFault, match=said):
            sandbox.run(Command(argv=("true",)))
        sandbox.close()
