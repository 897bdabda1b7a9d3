"""What the Landlock backend claims, attacked: changes of the host, its sockets, its processes, protected paths."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_boxes import AN_ORDINARY_USER, PYTHON, ROOT, Box, open_box, shown

from referee.adapters.sandbox import sandbox_owner

CHANGES = """
import os, sys
path = sys.argv[1]
def attempt(name, *arguments):
    try: getattr(os, name)(*arguments)
    except OSError: pass
attempt("chmod", path, 0o777)
attempt("utime", path, (1, 1))
attempt("truncate", path, 0)
attempt("setxattr", path, b"user.a", b"x")
attempt("rename", path, path + "-moved")
attempt("link", path, os.path.expanduser("~/linked"))
attempt("symlink", path, path + "-link")
attempt("mkdir", path + "-folder")
for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC):
    attempt("open", path, flags)
attempt("unlink", path)
"""
DATAGRAM = """
import socket, sys
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.sendto(b"escaped", sys.argv[1])
"""


@pytest.fixture(params=("landlock-root", "landlock-user"))
def fenced(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Box]:
    with open_box(request.param, str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def theirs(fenced: Box) -> Iterator[Path]:
    """A folder of the host that the sandbox's user owns: only the sandbox itself is in its way."""
    user = (AN_ORDINARY_USER,) * 2 if fenced.name.endswith("user") and os.geteuid() == 0 else sandbox_owner()
    with tempfile.TemporaryDirectory(prefix="referee-host-") as folder:
        victim = Path(folder, "victim")
        victim.write_text("SECRET")
        victim.chmod(0o640)
        os.utime(victim, (2_000_000_000, 2_000_000_000))
        if user:
            os.chown(folder, *user)
            os.chown(victim, *user)
        yield Path(folder)


def state(folder: Path) -> object:
    victim = folder / "victim"
    found = victim.stat()
    return sorted(os.listdir(folder)), victim.read_text(), found.st_mode, found.st_mtime, os.listxattr(victim)


def test_no_file_of_the_host_changes(fenced: Box, bare: Box, theirs: Path) -> None:
    """Neither what Landlock rules on nor what it does not: modes, times, attributes."""
    before = state(theirs)
    ended = fenced.run(PYTHON, "-I", "-c", CHANGES, str(theirs / "victim"))
    assert ended.exit_code == 0, ended.stderr
    assert state(theirs) == before
    assert fenced.run("cat", str(theirs / "victim")).stdout == b""
    bare.run(PYTHON, "-I", "-c", CHANGES, str(theirs / "victim"))
    assert not (theirs / "victim").exists(), "the same attack works where nothing is in its way"


def test_a_mount_can_be_read_and_not_changed(fenced: Box, theirs: Path) -> None:
    victim = str(theirs / "victim")
    before = state(theirs)
    ended = fenced.run(PYTHON, "-I", "-c", CHANGES, victim, mounts=(shown(victim, victim),))
    assert ended.exit_code == 0, ended.stderr
    assert state(theirs) == before
    assert fenced.run("cat", victim, mounts=(shown(victim, victim),)).stdout == b"SECRET"


def test_a_pair_of_sockets_reaches_no_other_socket(fenced: Box, bare: Box, theirs: Path) -> None:
    """A datagram socket of a pair could send to any named one: to the system's log, or to its manager."""
    named = str(theirs / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(named)
        os.chmod(named, 0o777)
        listener.setblocking(False)
        fenced.run(PYTHON, "-I", "-c", DATAGRAM, named)
        with pytest.raises(BlockingIOError):
            listener.recv(99)
        bare.run(PYTHON, "-I", "-c", DATAGRAM, named)
        assert listener.recv(99) == b"escaped"


def test_no_process_of_the_host_is_signalled_limited_or_read(fenced: Box, bare: Box) -> None:
    code = (
        "import os, resource, sys\npid = int(sys.argv[1])\n"
        "def attempt(name, do):\n"
        "    try: do(); print(name)\n"
        "    except OSError: pass\n"
        "attempt('signal', lambda: os.kill(pid, 0))\n"
        "attempt('limit', lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))\n"
        "attempt('read', lambda: open(f'/proc/{pid}/environ').read())\n"
        "attempt('memory', lambda: open(f'/proc/{pid}/mem', 'rb'))\n"
    )
    user = AN_ORDINARY_USER if fenced.name.endswith("user") else 65532
    options = {"user": user, "group": user, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "60"], env={"SECRET": "s"}, **options) as victim:  # type: ignore[call-overload]
        try:
            assert fenced.run(PYTHON, "-I", "-c", code, str(victim.pid)).stdout == b""
            reached = bare.run(PYTHON, "-I", "-c", code, str(victim.pid)).stdout
            assert {b"signal", b"read"} <= set(reached.split())  # limits: root may lack the capability, too
        finally:
            victim.kill()


def test_a_protected_path_stays_and_other_files_change(fenced: Box) -> None:
    base = fenced.base({"tests/t.py": "ORIGINAL", "src/a.py": "a", "setup.cfg": "ORIGINAL"}, ("tests", "setup.cfg"))
    script = (
        "echo x > tests/t.py; echo x > tests/new; mv tests old; rm -rf tests; echo x > setup.cfg; rm setup.cfg;"
        "mkdir tests/sub; ln -s /etc tests/link; echo changed > src/a.py; echo new > src/b.py;"
        "cat tests/t.py setup.cfg src/a.py src/b.py; ls tests"
    )
    ended = fenced.sh(script, base=base, cwd=ROOT)
    assert ended.stdout == b"ORIGINALORIGINALchanged\nnew\nt.py\n", ended


def test_what_a_sandbox_starts_is_fenced_too(fenced: Box, theirs: Path) -> None:
    script = f"setsid sh -c 'echo x > {theirs}/victim; echo x > {theirs}/new' & wait"
    fenced.sh(script)
    assert (theirs / "victim").read_text() == "SECRET"
    assert not (theirs / "new").exists()


def test_shared_memory_and_queues_of_the_host_are_out_of_reach(fenced: Box, bare: Box) -> None:
    """There is one IPC namespace: what is named there belongs to others."""
    code = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True)\n"
        "print([f(*a) >= 0 for f, *a in ((c.shmget, 0, 4096, 0o1600), (c.semget, 0, 1, 0o1600),"
        "(c.msgget, 0, 0o1600))], c.shmctl(0, 13, ctypes.create_string_buffer(256)) >= 0)"
    )
    assert fenced.python(code).stdout == b"[False, False, False] False\n"
    assert bare.python(code).stdout.startswith(b"[True, True, True]")
