"""What ordinary work needs must work inside: a sandbox that blocks it makes tests fail that are right (D14, D15)."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_boxes import ROOT, Box, open_box, quick, shown

BOXES = ("userns-root", "userns-user", "bubblewrap-root", "bubblewrap-user")

PYTHON_WORK = {
    "processes by fork, spawn and forkserver": """
        import multiprocessing as m
        def work(q, n): q.put(n * 2)
        if __name__ == "__main__":
            for how in ("fork", "spawn", "forkserver"):
                c = m.get_context(how)
                q = c.Queue(); p = c.Process(target=work, args=(q, 21)); p.start()
                assert q.get(timeout=20) == 42; p.join()
                with c.Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
    """,
    "locks, queues, managers and shared memory of processes": """
        import multiprocessing as m
        from multiprocessing import shared_memory
        if __name__ == "__main__":
            c = m.get_context("fork")
            assert c.Lock() and c.Semaphore(2) and c.Event() and c.Barrier(1) and c.Condition()
            with c.Manager() as manager: assert manager.list([1])[0] == 1
            v = c.Value("i", 7); a = c.Array("d", 3); assert v.value == 7 and len(a) == 3
            s = shared_memory.SharedMemory(create=True, size=1 << 20); s.buf[0] = 9
            t = shared_memory.SharedMemory(name=s.name); assert t.buf[0] == 9; t.close(); s.close(); s.unlink()
    """,
    "executors and threads": """
        import concurrent.futures as f, threading
        if __name__ == "__main__":
            for kind in (f.ThreadPoolExecutor, f.ProcessPoolExecutor):
                with kind(2) as pool: assert list(pool.map(abs, [-3])) == [3]
            local, ts = threading.local(), [threading.Thread(target=lambda: setattr(local, "x", 1)) for _ in range(40)]
            [t.start() for t in ts]; [t.join() for t in ts]
    """,
    "servers on loopback": """
        import asyncio, http.server, socket, threading, urllib.request
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert urllib.request.urlopen(f"http://localhost:{server.server_port}/").status == 200
        async def main():
            async def answer(r, w): w.write((await r.read(1)).upper()); await w.drain(); w.close()
            for start, where in ((asyncio.start_server, ("127.0.0.1", 0)), (asyncio.start_server, ("::1", 0)),
                                 (asyncio.start_unix_server, ("/tmp/s",))):
                s = await start(answer, *where)
                name = s.sockets[0].getsockname()
                connect = asyncio.open_unix_connection if isinstance(name, str) else asyncio.open_connection
                r, w = await connect(*((name,) if isinstance(name, str) else name[:2]))
                w.write(b"x"); assert await r.read(1) == b"X"; w.close()
        asyncio.run(main())
        a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        a.bind(("127.0.0.1", 0)); b.sendto(b"x", a.getsockname()); assert a.recv(1) == b"x"
        with socket.socket(socket.AF_UNIX) as s: s.bind("\\0name"); s.listen()
    """,
    "descriptors over sockets, and pairs of them": """
        import os, socket
        a, b = socket.socketpair()
        socket.send_fds(a, [b"x"], [os.open("/dev/null", 0)])
        assert len(socket.recv_fds(b, 1, 1)[1]) == 1
    """,
    "sqlite with a write-ahead log": """
        import sqlite3
        for path in ("db", "/tmp/db", "/dev/shm/db"):
            one = sqlite3.connect(path); assert one.execute("pragma journal_mode=wal").fetchone() == ("wal",)
            one.execute("create table t (x)"); one.execute("insert into t values (1)"); one.commit()
            assert sqlite3.connect(path).execute("select x from t").fetchone() == (1,)
    """,
    "trees of programs": """
        import asyncio, subprocess
        assert subprocess.run(["sh", "-c", "echo a | sed s/a/b/ | cat & wait"], capture_output=True).stdout == b"b\\n"
        p = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True); p.kill(); p.wait()
        async def main():
            p = await asyncio.create_subprocess_shell("cat", stdin=-1, stdout=-1)
            assert (await p.communicate(b"x"))[0] == b"x"
        asyncio.run(main())
    """,
    "a terminal of one's own": """
        import os, pty, termios
        pid, fd = pty.fork()
        if pid == 0: os.execvp("sh", ["sh", "-c", "test -t 0 && tty && stty size && echo fine"])
        said = b""
        try:
            while part := os.read(fd, 999): said += part
        except OSError: pass
        assert b"fine" in said and b"/dev/pts/" in said, said
        assert os.waitpid(pid, 0)[1] == 0
    """,
    "files of every kind": """
        import fcntl, mmap, os, stat, tempfile
        for folder in (".", "/tmp", "/dev/shm", os.path.expanduser("~")):
            d = tempfile.mkdtemp(dir=folder); p = d + "/f"
            with open(p, "w+b") as f:
                f.write(b"x" * 9000); f.flush(); os.fsync(f.fileno()); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, 2)
                with mmap.mmap(f.fileno(), 0) as m: m[0:1] = b"y"; m.flush()
                os.posix_fallocate(f.fileno(), 0, 20000)
            os.symlink("f", d + "/s"); os.link(p, d + "/h"); os.mkfifo(d + "/p"); os.rename(d + "/h", d + "/i")
            os.chmod(p, 0o755); assert stat.S_IMODE(os.stat(p).st_mode) == 0o755 and os.access(p, os.X_OK)
            os.utime(p, (5, 5)); assert os.stat(p).st_mtime == 5 and os.path.samefile(p, d + "/s")
            os.chown(p, os.getuid(), os.getgid()); os.mkdir(d + "/e"); os.rmdir(d + "/e")
            os.replace(d + "/i", d + "/s")
            with open(d + "/x", "wb") as t, open(p, "rb") as s: os.sendfile(t.fileno(), s.fileno(), 0, 10)
            with tempfile.NamedTemporaryFile(dir=d) as t: t.write(b"x")
            with tempfile.TemporaryFile(dir=d) as u: u.write(b"x")
    """,
    "an existing file of the workspace": """
        import os, shutil
        # Not os.rename: the kernel moves no folder of a tree below an overlay in one step, so moving copies it.
        os.chmod("tests", 0o700); shutil.move("tests", "moved"); shutil.rmtree("moved")
        os.link("data.txt", "hard"); os.utime("data.txt", (7, 7)); os.chmod("data.txt", 0o400)
        assert open("hard").read() == "data" and os.stat("hard").st_mtime == 7
    """,
    "a watch on a folder": """
        import ctypes, os
        libc = ctypes.CDLL(None); fd = libc.inotify_init1(0)
        for folder in (b".", b"/tmp"):
            assert libc.inotify_add_watch(fd, folder, 0x100) > 0
            open(folder + b"/made", "w").close(); assert b"made" in os.read(fd, 999)
    """,
    "who and where one is": """
        import getpass, locale, os, platform, pwd, socket, time, zoneinfo
        me = pwd.getpwuid(os.getuid()); assert me.pw_name == getpass.getuser() and os.path.isdir(me.pw_dir)
        assert os.path.expanduser("~" + me.pw_name) == os.environ["HOME"]
        locale.setlocale(locale.LC_ALL, "C.UTF-8"); assert "\\xe9".encode() == os.fsencode("\\xe9")
        os.environ["TZ"] = "Asia/Tokyo"; time.tzset(); assert time.tzname[0] == "JST"
        zoneinfo.ZoneInfo("America/New_York"); assert socket.gethostbyname("localhost") == "127.0.0.1"
        assert socket.getaddrinfo(socket.gethostname(), 80) and os.cpu_count() and platform.uname().node
    """,
    "signals, timers and limits": """
        import os, resource, select, signal, time
        got = []; signal.signal(signal.SIGALRM, lambda *_: got.append(1)); signal.setitimer(signal.ITIMER_REAL, .02)
        signal.pause(); assert got
        signal.signal(signal.SIGUSR1, lambda *_: got.append(2)); os.kill(os.getpid(), signal.SIGUSR1); assert 2 in got
        pid = os.fork()
        if pid == 0: signal.pause()
        fd = os.pidfd_open(pid); signal.pidfd_send_signal(fd, 9); assert select.select([fd], [], [], 9)[0]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE); resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        os.nice(1); os.sched_yield(); os.sched_setaffinity(0, os.sched_getaffinity(0)); assert os.getloadavg()
    """,
    "memory that is reserved and not used": """
        import mmap
        m = mmap.mmap(-1, 20 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000); m[0] = 1; m[19 << 30] = 1
    """,
    "many sockets at once": """
        import socket
        kept = [socket.socketpair() for _ in range(200)]
        for a, b in kept: a.send(b"x" * 1000)
        assert all(b.recv(1) for _, b in kept)
    """,
}
GIT = """
set -e
git init -q -b main a; cd a; git config user.name n; git config user.email e@x; echo x > f; git add f; git commit -qm m
git checkout -qb side; echo y > f; git commit -qam n; git stash list; git worktree add -q ../w main; cd ..
git clone -q a b; git -C b log --oneline | wc -l; git -C b gc -q; git -C b describe --always > /dev/null; echo fine
"""
NODE = """
const {Worker, isMainThread, parentPort} = require('worker_threads');
if (!isMainThread) { parentPort.postMessage(42); } else {
  const {execFileSync, fork} = require('child_process'), http = require('http'), fs = require('fs');
  if (process.argv[2] === 'child') process.exit(0);
  const w = new Worker(__filename);
  w.on('message', n => fork(__filename, ['child']).on('exit', code => {
    const s = http.createServer((q, r) => r.end('hi')).listen(0, '127.0.0.1', () =>
      http.get({port: s.address().port, host: '127.0.0.1'}, r => { s.close(); fs.writeFileSync('out', 'x');
        console.log(n, code, r.statusCode, execFileSync('echo', ['fine']).toString().trim()); process.exit(0); }));
  }));
}
"""


@pytest.fixture(params=BOXES, scope="module")
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with open_box(request.param, str(tmp_path_factory.mktemp("box"))) as opened:
        yield opened


def lines(text: str) -> str:
    """A block without its indentation."""
    return "\n".join(line[8:] for line in text.splitlines())


@pytest.mark.parametrize("work", PYTHON_WORK)
def test_python(box: Box, work: str) -> None:
    files = {
        "work.py": lines(PYTHON_WORK[work]) + "\nprint('fine')\n",
        "data.txt": "data",
        "tests/test_a.py": "x = 1\n",
    }
    ended = box.sh("exec python3 -B work.py", base=box.base(files), cwd=ROOT, limits=quick(60))
    assert (ended.stdout[-5:], ended.exit_code) == (b"fine\n", 0), ended.stderr.decode()[-2000:]


def test_git(box: Box) -> None:
    ended = box.sh(GIT, base=box.base({"x": ""}), cwd=ROOT, limits=quick(60))
    assert ended.stdout.split() == [b"2", b"fine"], ended


def test_installing_a_wheel_into_an_environment_of_its_own(box: Box) -> None:
    base = box.base({"x": ""})
    name = "small-1.0-py3-none-any.whl"
    Path(base.path, name).write_bytes(wheel())
    script = (
        f"python3 -m venv --without-pip env && python3 -m pip --python env/bin/python install --no-index -q ./{name} &&"
        "env/bin/python -c 'import small; print(small.WORD)' && env/bin/small"
    )
    ended = box.sh(script, base=base, cwd=ROOT, limits=quick(90))
    if b"No module named" in ended.stderr:
        pytest.skip("the system's Python has no pip or no venv")
    assert ended.stdout == b"word\nword\n", ended


def wheel() -> bytes:
    """The smallest wheel with a module and a script."""
    files = {
        "small.py": "WORD = 'word'\ndef main():\n    print(WORD)\n",
        "small-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n",
        "small-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "small-1.0.dist-info/entry_points.txt": "[console_scripts]\nsmall = small:main\n",
    }
    record, out = "small-1.0.dist-info/RECORD", io.BytesIO()
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text)}")
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in {**files, record: "\n".join([*rows, f"{record},,"]) + "\n"}.items():
            archive.writestr(path, text)
    return out.getvalue()


def test_numpy(box: Box) -> None:
    found = importlib.util.find_spec("numpy")
    if found is None or found.origin is None:
        pytest.skip("numpy is not installed")
    where = os.path.dirname(os.path.dirname(found.origin))
    code = "import numpy as n; a = n.random.rand(300, 300); assert (a @ n.linalg.inv(a)).trace() > 299; print('fine')"
    python = os.path.realpath(sys.executable)
    mounts = tuple(shown(p, p) for p in sorted({where, sys.base_prefix}) if not p.startswith("/usr"))
    if box.name.endswith("user") and os.geteuid() == 0:
        pytest.skip("this Python is not an ordinary user's to read")
    ended = box.run(python, "-c", code, env={"PYTHONPATH": where}, mounts=mounts, limits=quick(60))
    assert ended.stdout == b"fine\n", ended


def test_node(box: Box) -> None:
    if not os.path.realpath(shutil.which("node") or "").startswith("/usr/"):
        pytest.skip("there is no node below /usr")
    ended = box.sh("node work.js", base=box.base({"work.js": NODE}), cwd=ROOT, limits=quick(60))
    assert ended.stdout == b"42 0 200 fine\n", ended


def test_cargo_builds_offline(box: Box) -> None:
    if shutil.which("rustc") is None or shutil.which("cc") is None:
        pytest.skip("there is no Rust, or no linker")
    asked = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:  # a launcher, which looks for its toolchains in the home
        pytest.skip(f"rustc is there and cannot be used: {asked.stderr.strip()[:200]}")
    root = asked.stdout.strip()
    if not os.path.exists(f"{root}/bin/cargo") or (box.name.endswith("user") and os.geteuid() == 0):
        pytest.skip("this Rust has no cargo beside it, or is not an ordinary user's to read")
    files = {
        "Cargo.toml": '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": 'fn main() { println!("fine"); }\n#[test]\nfn right() { assert_eq!(1 + 1, 2); }\n',
    }
    script = "cargo build --offline -q && target/debug/small && cargo test --offline -q >/dev/null && echo tested"
    env = {"PATH": "/opt/rust/bin:/usr/bin:/bin", "CARGO_HOME": "/tmp/cargo"}
    mounts = (shown(root, "/opt/rust"),)
    ended = box.sh(script, base=box.base(files), cwd=ROOT, env=env, mounts=mounts, limits=quick(120, cpu_seconds=100))
    assert ended.stdout == b"fine\ntested\n", ended
