"""What a warm process promises: the same as a cold run, and nothing of one job in the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_boxes import PYTHON, ROOT, Box, open_box, patched, quick, shown

from referee.domain.errors import WorldFault
from referee.ports import Command, Execution, Job, Warm

SCRIPT = """
import os, sys
LOADED = os.getpid()
STATE = []
def main(argv):
    what, *rest = argv
    if what == "code":
        exec(rest[0], {"LOADED": LOADED, "STATE": STATE, "os": os, "sys": sys})
        return 0
    if what == "channel":
        os.write(4, b"frame:" + os.read(3, 99))
    return int(rest[0]) if rest else 0
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
FILES = {"pkg.py": "VALUE = 1\n", "tests/test_mod.py": "ORIGINAL\n"}
Start = Callable[..., Warm]


@pytest.fixture(params=("userns-root", "userns-user", "bubblewrap-root", "landlock-root", "bare-root"), scope="module")
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with open_box(request.param, str(tmp_path_factory.mktemp("box"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def warm(box: Box) -> Iterator[Warm]:
    started = box.sandbox.warm(command(box))
    yield started
    started.close()


def command(box: Box, script: str = SCRIPT, **options: Any) -> Command:
    folder = box.write_all(f"script-{len(box.made)}", {"entry.py": script})
    base = box.base(FILES, protected=("tests",))
    mounts = (shown(f"{folder}/entry.py", "/opt/entry.py"),)
    return Command(argv=(PYTHON, "-I", "-B", "/opt/entry.py"), base=base, cwd=ROOT, mounts=mounts, **options)


def code(warm: Warm, text: str, **options: Any) -> Execution:
    return warm.run(Job(argv=("code", text), **options))


def test_a_job_has_arguments_streams_and_an_exit_code(warm: Warm) -> None:
    assert warm.run(Job(argv=("exit", "7"))).exit_code == 7
    ended = code(warm, "print('out'); print('err', file=sys.stderr)")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"out\n", b"err\n")


def test_a_job_has_the_channel(warm: Warm) -> None:
    first, second = (warm.run(Job(argv=("channel",))) for _ in range(2))
    assert first.channel == b"frame:" + first.key
    assert first.key != second.key


def test_a_job_ends_as_a_script_would(warm: Warm) -> None:
    assert code(warm, "sys.exit('in words')").stderr.endswith(b"in words\n")
    failed = code(warm, "raise ValueError('odd')")
    assert failed.exit_code == 1
    assert b"ValueError: odd" in failed.stderr
    assert code(warm, "import atexit; atexit.register(print, 'at exit')").stdout == b"at exit\n"
    assert code(warm, "os._exit(9)").exit_code == 9
    assert code(warm, "os.kill(os.getpid(), 11)").killed_by == "signal:SIGSEGV"


def test_a_job_sees_its_own_patch_only(warm: Warm) -> None:
    text = "print(open('pkg.py').read(), sorted(os.listdir('.')))"
    ended = code(warm, text, patch=patched({"pkg.py": "VALUE = 2", "new.py": ""}))
    assert ended.stdout == b"VALUE = 2 ['new.py', 'pkg.py', 'tests']\n"
    assert code(warm, text).stdout == b"VALUE = 1\n ['pkg.py', 'tests']\n"


def test_nothing_of_a_job_reaches_the_next(box: Box, warm: Warm) -> None:
    """Files, modules, variables, processes and sockets of one job are gone in the next."""
    if box.name.startswith("landlock"):
        box.needs("loopback")
    leave = (
        "import socket, subprocess\nSTATE.append(1); os.environ['LEFT'] = '1'; sys.modules['left'] = sys\n"
        "[open(p + '/left', 'w').close() for p in ('.', os.path.expanduser('~'))]\n"
        "subprocess.Popen(['sleep', '1000'], stdout=-3, stderr=-3)\n"
        "s = socket.socket(socket.AF_UNIX); s.bind('\\0left'); s.listen(); print(len(os.listdir('.')))"
    )
    look = (
        "import socket\nprint(STATE, 'LEFT' in os.environ, 'left' in sys.modules, os.path.exists('left'),"
        "os.path.exists(os.path.expanduser('~/left')), socket.socket(socket.AF_UNIX).connect_ex('\\0left') == 0)"
    )
    assert code(warm, leave).stdout == b"3\n"
    assert code(warm, look).stdout == b"[] False False False False False\n"


def test_limits_hold_for_a_job(warm: Warm) -> None:
    assert code(warm, "import time; time.sleep(60)", limits=quick(0.3)).killed_by == "wall"
    hog = "x = []\nwhile True: x.append(b'x' * (4 << 20))"
    assert code(warm, hog, limits=quick(20, memory_bytes=200 << 20)).killed_by == "memory"
    assert code(warm, "while True: pass", limits=quick(20, cpu_seconds=1)).killed_by == "cpu"
    assert warm.run(Job(argv=("exit", "0"))).exit_code == 0


def test_a_job_may_use_all_that_its_limits_allow(warm: Warm) -> None:
    """The server's own limits are not in the way."""
    text = "import resource as r; print([r.getrlimit(n)[0] for n in (r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CPU)])"
    ended = code(warm, text, limits=quick(file_bytes=1 << 30, open_files=2000, cpu_seconds=500))
    assert ended.stdout == b"[1073741824, 2000, 500]\n"


def test_two_jobs_at_once(box: Box, warm: Warm) -> None:
    if box.name.endswith("-user"):
        pytest.skip("the proxy of the other user's sandbox takes one call at a time")
    ended: list[Execution] = []
    barrier = threading.Barrier(2)

    def job(number: int) -> None:
        barrier.wait()
        ended.append(code(warm, f"import time; time.sleep(.3); print({number})", limits=quick(20)))

    threads = [threading.Thread(target=job, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(e.stdout for e in ended) == [b"0\n", b"1\n"]


@pytest.fixture(params=("userns-root", "userns-user"))
def userns(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Box]:
    with open_box(request.param, str(tmp_path)) as opened:
        yield opened


def test_imports_happen_once_and_outside_of_the_job(userns: Box) -> None:
    warm = userns.sandbox.warm(command(userns))
    seen = {code(warm, "print(LOADED, LOADED != os.getpid() or os.getppid() == 1)").stdout for _ in range(3)}
    assert len(seen) == 1


def test_a_job_cannot_see_or_signal_the_server(userns: Box) -> None:
    """The server is not in the job's process namespace, and cannot be reached through /proc or a signal."""
    warm = userns.sandbox.warm(command(userns))
    attack = (
        "import contextlib, signal\n"
        "print(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()) == [1, os.getpid()])\n"
        "os.kill(1, signal.SIGKILL)\n"  # which an init ignores
        "with contextlib.suppress(ProcessLookupError): os.kill(-1, signal.SIGKILL)\n"
        "for what in ('mem', 'environ'):\n"
        "    with contextlib.suppress(OSError): open('/proc/1/' + what, 'rb'); print('reached', what)\n"
        "print(sorted(os.listdir('/proc/self/fd'))[:5], os.listdir('/run'))\n"
    )
    assert code(warm, attack).stdout == b"True\n['0', '1', '2', '3', '4'] []\n"
    assert warm.run(Job(argv=("exit", "0"))).exit_code == 0


def test_a_job_has_no_privilege_and_a_protected_tree(userns: Box) -> None:
    warm = userns.sandbox.warm(command(userns))
    status = code(warm, "print(open('/proc/self/status').read())").stdout.decode()
    assert "CapEff:\t0000000000000000" in status
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    ended = code(warm, "open('tests/test_mod.py', 'w')")
    assert b"Read-only file system" in ended.stderr


def test_a_script_that_cannot_be_loaded_is_a_world_fault(userns: Box) -> None:
    with pytest.raises(WorldFault, match="no_such_module"):
        userns.sandbox.warm(command(userns, "import no_such_module"))
    with pytest.raises(WorldFault, match="cannot run"):
        userns.sandbox.warm(Command(argv=("/no/such/python", "/opt/entry.py")))


def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    with open_box("userns-root", str(tmp_path)) as box:
        warm = box.sandbox.warm(command(box))
        ended: list[object] = []

        def job() -> None:
            try:
                ended.append(code(warm, "import time; time.sleep(60)", limits=quick(60)).killed_by)
            except WorldFault as e:
                ended.append(e)

        thread = threading.Thread(target=job)
        thread.start()
        thread.join(0.5)
        warm.close()
        thread.join(10)
        assert ended
        with pytest.raises(WorldFault):
            warm.run(Job(argv=("exit", "0")))
