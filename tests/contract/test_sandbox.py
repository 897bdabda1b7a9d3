"""What every sandbox promises, over every backend, as root and as an ordinary user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_boxes import BACKENDS, KNOWN, PYTHON, ROOT, Box, open_box, patched, quick, shown

from referee.domain.errors import UsageError, WorldFault
from referee.domain.patch import FileContent, patch_of
from referee.ports import Command, Limits

BOXES = tuple(f"{name}-{who}" for name in BACKENDS for who in ("root", "user"))
FILES = {"pkg/__init__.py": "", "pkg/mod.py": "VALUE = 1\n", "tests/test_mod.py": "ORIGINAL\n", "old/gone.py": "x\n"}


@pytest.fixture(params=BOXES, scope="module")
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with open_box(request.param, str(tmp_path_factory.mktemp("box"))) as opened:
        yield opened


@pytest.fixture
def isolating(box: Box) -> Box:
    if box.name.startswith("bare"):
        pytest.skip("bare isolates nothing, and says so")
    return box


def test_output_and_exit_code_come_back(box: Box) -> None:
    ended = box.sh("echo out; echo err >&2; exit 3")
    assert (ended.exit_code, ended.stdout, ended.stderr, ended.killed_by) == (3, b"out\n", b"err\n", None)
    assert ended.isolation == box.sandbox.isolation
    assert ended.isolation.level is KNOWN[ended.isolation.backend].level


def test_a_missing_program_is_the_commands_failure_not_the_worlds(box: Box) -> None:
    ended = box.run("no-such-program")
    assert ended.exit_code == 127
    assert b"no-such-program" in ended.stderr


def test_a_signal_is_named(box: Box) -> None:
    ended = box.sh("kill -SEGV $$")
    assert (ended.exit_code, ended.killed_by) == (None, "signal:SIGSEGV")


def test_nothing_to_run_is_a_usage_error(box: Box) -> None:
    with pytest.raises(UsageError, match="no command"):
        box.sandbox.run(Command(argv=()))


def test_a_folder_that_is_not_there_is_a_world_fault(isolating: Box) -> None:
    """Case D19: a sandbox that cannot start as asked is told apart from a command that fails."""
    with pytest.raises(WorldFault, match="/no/such/folder"):
        isolating.run("true", cwd="/no/such/folder")
    with pytest.raises(WorldFault):
        isolating.run("true", mounts=(shown("/no/such/source", "/x"),))


def test_base_is_seen_at_its_own_path_and_writable(box: Box) -> None:
    base = box.base(FILES)
    ended = box.sh("cat pkg/mod.py && echo more >> pkg/mod.py && touch new && mkdir -p a/b && ls", base=base, cwd=ROOT)
    assert ended.exit_code == 0, ended
    assert ended.stdout.split() == b"VALUE = 1 a new old pkg tests".split()


def test_nothing_of_a_command_reaches_the_next_or_the_base(box: Box) -> None:
    """B5: the base is as it was, and so is the next command's view."""
    base = box.base(FILES)
    box.sh("echo changed > pkg/mod.py; rm -rf old; touch ~/left; touch /tmp/left-$$", base=base, cwd=ROOT)
    again = box.sh("cat pkg/mod.py; ls old; ls -A ~", base=base, cwd=ROOT)
    assert again.stdout == b"VALUE = 1\ngone.py\n"
    assert Path(base.path, "old/gone.py").exists()


def test_a_patch_is_on_top_of_the_base(box: Box) -> None:
    patch = patch_of(
        {
            "pkg/mod.py": FileContent(data=b"VALUE = 2\n"),
            "bin/run": FileContent(data=b"#!/bin/sh\necho ran\n", executable=True),
            "old/gone.py": None,
            "pkg/\u00fc \n.txt": FileContent(data=b"odd"),
        }
    )
    ended = box.sh("cat pkg/mod.py; bin/run; ls; ls pkg | wc -l", base=box.base(FILES), patch=patch, cwd=ROOT)
    assert ended.stdout == b"VALUE = 2\nran\nbin\npkg\ntests\n4\n", ended


def test_a_patch_may_be_large(box: Box) -> None:
    data = os.urandom(5 << 20)
    ended = box.sh("wc -c < big", base=box.base(FILES), patch=patch_of({"big": FileContent(data=data)}), cwd=ROOT)
    assert int(ended.stdout) == len(data)


def test_a_patch_that_does_not_fit_is_a_world_fault(box: Box) -> None:
    with pytest.raises(WorldFault, match=r"absent\.py"):
        box.run("true", base=box.base(FILES), patch=patched({"absent.py": None}), cwd=ROOT)


def test_mounts_show_host_folders_and_files(box: Box) -> None:
    where = box.write_all(f"deps-{len(box.made)}", {"lib/mod.py": "print('dep')", "one": "1"})
    mounts = (shown(f"{where}/lib", f"{ROOT}/.venv"), shown(f"{where}/one", "/opt/one"))
    ended = box.run(PYTHON, f"{ROOT}/.venv/mod.py", base=box.base(FILES), mounts=mounts, cwd=ROOT)
    assert ended.stdout == b"dep\n", ended
    assert box.run("cat", "/opt/one", mounts=mounts[1:]).stdout == b"1"


def test_the_channel_carries_a_fresh_key_and_frames(box: Box) -> None:
    code = "import os; key = os.read(3, 99); os.write(4, b'frame:' + key)"
    first, second = (box.python(code, channel=True) for _ in range(2))
    assert first.channel == b"frame:" + first.key
    assert len(first.key) == 32
    assert first.key != second.key
    assert first.key not in repr(box.sh("env; cat /proc/self/cmdline", channel=True)).encode()


def test_no_descriptor_is_inherited(isolating: Box) -> None:
    code = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
    assert isolating.python(code).stdout == b"[0, 1, 2]\n"
    assert isolating.python(code, channel=True).stdout == b"[0, 1, 2, 3, 4]\n"


def test_environment_is_a_short_list_and_what_is_named(box: Box) -> None:
    """Cases D6, D7: nothing of the harness's environment is inherited."""
    ended = box.sh("env", env={"NAMED": "yes", "LANG": "C"})
    seen = dict(line.split("=", 1) for line in ended.stdout.decode().splitlines())
    assert seen["NAMED"] == "yes"
    assert seen["LANG"] == "C"
    assert set(seen) <= {
        "NAMED", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TERM", "PAGER", "GIT_PAGER", "EDITOR",
        "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS",
        "GIT_SSH_COMMAND", "DEBIAN_FRONTEND", "PYTHONNOUSERSITE", "PWD", "OLDPWD", "_", "GIT_CONFIG_NOSYSTEM",
    }  # fmt: skip


def test_home_and_temporary_folders_are_private_and_writable(isolating: Box) -> None:
    isolating.needs("temporary")
    ended = isolating.sh("ls -A ~ /tmp /dev/shm; echo x > ~/f && echo x > /tmp/f && echo x > /dev/shm/f && echo fine")
    assert ended.stdout == b"/dev/shm:\n\n/home/sandbox:\n\n/tmp:\nfine\n", ended


def test_the_user_is_known_by_name_and_is_not_root(isolating: Box) -> None:
    isolating.needs("user")
    code = "import os, pwd; print(pwd.getpwuid(os.getuid()).pw_name, os.getuid() != 0, os.path.expanduser('~'))"
    assert isolating.python(code).stdout == b"sandbox True /home/sandbox\n"


def test_output_is_kept_at_both_ends_and_counted(box: Box) -> None:
    """Cases E9, E10: a cap in the reader, not on the result."""
    ended = box.sh("echo first; head -c 3000000 /dev/zero; echo last", limits=quick(output_bytes=100_000))
    assert ended.stdout_total == 3_000_011
    assert len(ended.stdout) < 100_100
    assert ended.stdout.startswith(b"first\n")
    assert ended.stdout.endswith(b"last\n")
    assert b"left out" in ended.stdout


def test_odd_bytes_come_back_as_they_are(box: Box) -> None:
    """Case E11: cleaning is for whoever shows them."""
    assert box.sh(r"printf '\000\377\033[31m'").stdout == b"\x00\xff\x1b[31m"


def test_time_is_limited(box: Box) -> None:
    ended = box.sh("echo before; sleep 60", limits=quick(1.5))
    assert (ended.exit_code, ended.killed_by, ended.stdout) == (None, "wall", b"before\n")
    assert 1_500 <= ended.duration_ms < 6_000


def test_cpu_time_is_limited(box: Box) -> None:
    ended = box.python("while True: pass", limits=quick(20, cpu_seconds=1))
    assert (ended.exit_code, ended.killed_by) == (None, "cpu")
    assert 0.5 < ended.cpu_seconds < 3


def test_memory_is_limited_and_its_peak_reported(box: Box) -> None:
    held = box.python("x = b'x' * (100 << 20); import time; time.sleep(.3)", limits=quick(memory_bytes=1 << 30))
    assert held.exit_code == 0
    assert 100 << 20 < held.peak_memory_bytes < 200 << 20
    limit = 200 << 20
    ended = box.python("x = []\nwhile True: x.append(b'x' * (4 << 20))", limits=quick(20, memory_bytes=limit))
    assert (ended.exit_code, ended.killed_by) == (None, "memory")
    assert limit < ended.peak_memory_bytes


def test_a_file_is_limited(box: Box) -> None:
    ended = box.sh("head -c 9000000 /dev/zero > ~/big; ls -l ~/big | cut -d' ' -f5", limits=quick(file_bytes=1 << 20))
    assert ended.stdout == b"1048576\n"


def test_a_flood_of_output_is_ended(box: Box) -> None:
    """Case E9: beyond 64 times what is kept."""
    ended = box.sh("head -c 50000000 /dev/zero", limits=quick(30, output_bytes=10_000))
    assert (ended.exit_code, ended.killed_by) == (None, "output")
    assert len(ended.stdout) < 10_100


def test_disk_is_limited_in_all(box: Box) -> None:
    box.needs("disk")
    fill = "for n in 1 2 3 4 5 6 7 8; do head -c 8000000 /dev/zero > ~/$n || exit 1; done"
    ended = box.sh(fill, limits=quick(30, disk_bytes=32 << 20))
    assert (ended.exit_code, ended.killed_by) == (None, "disk")


def test_a_background_child_that_holds_the_output_does_not_hold_the_result(box: Box) -> None:
    """Case E1."""
    ended = box.sh("sleep 1000 & echo done", limits=quick(30))
    assert (ended.exit_code, ended.stdout) == (0, b"done\n")
    assert ended.duration_ms < 5_000
    if not box.name.startswith("bubblewrap"):  # whose own init leaves no time to look
        assert ended.left_processes


def test_a_reader_of_input_or_terminal_gets_none(box: Box) -> None:
    """Cases E5, E7: neither standard input nor a terminal to wait at."""
    script = "cat; if (: < /dev/tty) 2>/dev/null; then echo terminal; fi; git commit; git rebase -i; echo over"
    ended = box.sh(script, limits=quick(20))
    assert ended.stdout.endswith(b"over\n")
    assert b"terminal" not in ended.stdout
    assert ended.killed_by is None


def test_an_editor_fails_instead_of_agreeing(box: Box) -> None:
    """Case E6: a commit without a message is refused, not made with an empty or default one."""
    script = (
        "cd ~ && git init -q . && git config user.email a@b && git config user.name n && echo x > f && git add f &&"
        "git commit; echo $?; git log 2>&1 | head -1"
    )
    ended = box.sh(script, limits=quick(20))
    assert b"there is no editor here" in ended.stderr
    assert b"1\nfatal" in ended.stdout


def test_the_command_may_write_to_its_streams_by_name(box: Box) -> None:
    ended = box.sh("echo one > /dev/stdout; echo two > /dev/stderr")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"one\n", b"two\n")


def test_ordinary_work_works(isolating: Box) -> None:
    """Cases D14, D15, and what else tests need of a machine."""
    isolating.needs("concurrency", "loopback")
    code = """
import asyncio, multiprocessing, os, pty, socket, subprocess, threading, time, zoneinfo
m = multiprocessing.get_context("fork")
assert m.Lock() and m.Pool(2).map(abs, [-1]) == [1]
from multiprocessing import shared_memory
s = shared_memory.SharedMemory(create=True, size=1 << 20); s.close(); s.unlink()
t = threading.Thread(target=int); t.start(); t.join()
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
async def main():
    async def answer(r, w): w.write(await r.read(1)); await w.drain(); w.close()
    for host in ("127.0.0.1", "::1"):
        server = await asyncio.start_server(answer, host, 0)
        r, w = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        w.write(b"z"); assert await r.read(1) == b"z"; w.close()
    p = await asyncio.create_subprocess_exec("true"); assert await p.wait() == 0
asyncio.run(main())
assert socket.gethostbyname("localhost") == "127.0.0.1" and socket.gethostbyname(socket.gethostname())
pid, fd = pty.fork()
if pid == 0: os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
zoneinfo.ZoneInfo("Europe/Berlin")
subprocess.run("cd /tmp && git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m m",
               shell=True, check=True)
print("fine")
"""
    ended = isolating.python(code, limits=quick(30))
    assert ended.stdout == b"fine\n", ended.stderr


def test_what_every_sandbox_lets_work(box: Box) -> None:
    """Threads, trees of programs, pairs of sockets, databases, temporary files and a repository of its own."""
    code = """
import asyncio, os, socket, sqlite3, subprocess, tempfile, threading
t = threading.Thread(target=int); t.start(); t.join()
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
async def main():
    p = await asyncio.create_subprocess_exec("true"); assert await p.wait() == 0
asyncio.run(main())
with tempfile.TemporaryDirectory() as folder:
    with sqlite3.connect(folder + "/db") as db:
        db.execute("pragma journal_mode=wal"); db.execute("create table t (a)"); db.execute("insert into t values (1)")
    os.rename(folder + "/db", folder + "/moved"); os.symlink("moved", folder + "/link")
    os.link(folder + "/moved", folder + "/x")
    os.mkdir(folder + "/sub"); os.rename(folder + "/moved", folder + "/sub/moved")

subprocess.run("git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m m | cat",
               shell=True, check=True)
print("fine")
"""
    ended = box.python(code, limits=quick(30), base=box.base(FILES), cwd=ROOT)
    assert ended.stdout == b"fine\n", ended.stderr


def test_an_address_space_below_what_runtimes_reserve_is_refused(box: Box) -> None:
    with pytest.raises(UsageError, match=r"1\.5 GiB"):
        box.run("true", limits=Limits(address_space_bytes=1 << 30))


def test_a_base_of_another_owner_can_be_read_but_not_patched(tmp_path: Path) -> None:
    """As root, a base that the sandbox's user does not own works for looking; a patch says what is wrong."""
    with open_box("userns-root", str(tmp_path)) as box:
        box.owner = None
        base = box.base(FILES)
        assert (
            box.sh("cat pkg/mod.py; touch pkg/new || echo refused", base=base, cwd=ROOT).stdout
            == b"VALUE = 1\nrefused\n"
        )
        with pytest.raises(WorldFault, match=r"pkg/mod\.py"):
            box.run("true", base=base, patch=patched({"pkg/mod.py": "x"}), cwd=ROOT)


def test_a_closed_sandbox_says_so(tmp_path: Path) -> None:
    with open_box("userns-root", str(tmp_path)) as box:
        box.run("true")
        box.sandbox.close()
        with pytest.raises(WorldFault, match="closed"):
            box.run("true")
