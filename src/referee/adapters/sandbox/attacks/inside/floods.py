"""Using up what the machine has. Each flood is finite, and larger than the limit that it runs under."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import socket
import threading
import time

from .registry import Scene, attack
from .system import NUMBERS, libc, stay, system_call

_MB = 1 << 20
_STEP = 0.02  # seconds between 4 MB and the next, as a program that computes would take
_HOLD = 1.5  # seconds that a flood stays, so that whoever counts can count


def _hold(seconds: float) -> object:
    """Keep everything for so long."""
    time.sleep(seconds)
    return None


@attack("limits", "fork bomb", limits={"processes": 40})
def fork_bomb(scene: Scene) -> object:
    for _ in range(120):
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                stay()
    return _hold(_HOLD)


@attack("limits", "thread bomb", limits={"processes": 40})
def thread_bomb(scene: Scene) -> object:
    threads = [threading.Thread(target=time.sleep, args=(_HOLD,), daemon=True) for _ in range(120)]
    with contextlib.suppress(RuntimeError):
        for thread in threads:
            thread.start()
    return _hold(_HOLD)


@attack("limits", "fill the memory", limits={"memory_bytes": 96 * _MB})
def memory(scene: Scene) -> object:
    held = []
    for _ in range(85):
        held.append(b"x" * (4 * _MB))
        time.sleep(_STEP)
    return _hold(_HOLD)


@attack("limits", "fill the memory from many processes", limits={"memory_bytes": 96 * _MB})
def memory_of_many(scene: Scene) -> object:
    for _ in range(6):
        if os.fork() == 0:
            held = b"x" * (56 * _MB)
            if held:
                stay()
        time.sleep(5 * _STEP)
    return _hold(_HOLD)


@attack("limits", "fill the memory with shared pages", limits={"memory_bytes": 96 * _MB})
def shared_pages(scene: Scene) -> object:
    area = mmap.mmap(-1, 340 * _MB)
    for n in range(0, 340 * _MB, 4096):
        area[n] = 1
        if n % (4 * _MB) == 0:
            time.sleep(_STEP)
    return _hold(_HOLD)


@attack("limits", "fill the memory with page tables", limits={"memory_bytes": 96 * _MB})
def page_tables(scene: Scene) -> object:
    """Reading memory that nobody wrote costs no page, but 4 KiB of tables for every 2 MiB of addresses."""
    size, step = 180 << 30, 2 * _MB
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
    address = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, flags, -1, ctypes.c_long(0))
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError("no addresses")
    libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), 15)  # no huge pages
    for n in range(0, size, step):
        ctypes.string_at(address + n, 1)
        if n % (1000 * step) == 0:
            time.sleep(_STEP)
    return _hold(_HOLD)


@attack("limits", "fill the memory with what sockets hold", limits={"memory_bytes": 96 * _MB})
def socket_buffers(scene: Scene) -> object:
    """What was sent and is not yet received belongs to no process's memory."""
    held, sent = [], 0
    with contextlib.suppress(OSError):
        while sent < 340 * _MB:
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            held.append(pair)
            time.sleep(2 * _STEP)
            for end in pair:
                end.setblocking(False)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * _MB)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        sent += end.send(b"x" * 65536)
    time.sleep(_HOLD)
    return held


@attack("limits", "fill the memory with what pipes hold", limits={"memory_bytes": 96 * _MB})
def pipe_buffers(scene: Scene) -> object:
    import fcntl

    held = []
    with contextlib.suppress(OSError):
        for _ in range(340):
            out, into = os.pipe()
            held.append(out)
            os.set_blocking(into, False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(into, 1031, _MB)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(into, b"x" * 65536)
    time.sleep(_HOLD)
    return held


@attack("limits", "keep memory in System V segments")
def segments(scene: Scene) -> object:
    """Segments outlive their process."""
    number = system_call(NUMBERS["shmget"], 0, 8 * _MB, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(number, None, 0)
    libc.shmctl(number, 0, None)  # it goes with its last user
    ctypes.memset(address, 1, 8 * _MB)
    return address


@attack("limits", "keep memory in message queues")
def queues(scene: Scene) -> object:
    record = (ctypes.c_long * 8)(0, 10, 8192)
    queue = system_call(NUMBERS["mq_open"], scene["mark"].encode(), os.O_CREAT | os.O_RDWR, 0o600, record)
    system_call(NUMBERS["mq_unlink"], scene["mark"].encode())  # it goes with its last user
    return queue


def _fill(scene: Scene, *folders: str) -> object:
    """A file of 40 MB in each folder, named after the mark."""
    for folder in folders:
        with contextlib.suppress(OSError), open(f"{folder}/{scene['mark']}-flood", "wb", buffering=0) as f:
            for _ in range(10):
                f.write(b"x" * (4 * _MB))
    return _hold(0.2)


@attack("limits", "fill the disk", limits={"disk_bytes": 24 * _MB})
def disk(scene: Scene) -> object:
    return _fill(scene, "/tmp")


@attack("limits", "fill every place that can be written", limits={"disk_bytes": 64 * _MB})
def disk_everywhere(scene: Scene) -> object:
    """No place is beyond its limit, all together are."""
    return _fill(scene, "/tmp", "/dev/shm", scene["root"], os.path.expanduser("~"), "/run", "/var/tmp")


@attack("limits", "fill shared memory", limits={"disk_bytes": 24 * _MB})
def shared_files(scene: Scene) -> object:
    return _fill(scene, "/dev/shm")


@attack("limits", "use up the inodes", limits={"disk_bytes": 16 * _MB, "wall_seconds": 15.0})
def inodes(scene: Scene) -> object:
    folder = f"/tmp/{scene['mark']}-inodes"
    os.mkdir(folder)
    for n in range(20_000):
        os.close(os.open(f"{folder}/{n}", os.O_CREAT | os.O_WRONLY, 0o600))
    return _hold(0.3)


@attack("limits", "write one huge sparse file", limits={"file_bytes": 8 * _MB})
def sparse(scene: Scene) -> object:
    """It takes no room, until somebody copies it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(f"{scene['root']}/{scene['mark']}-sparse", "wb") as f:
        os.truncate(f.fileno(), 1 << 34)
    return _hold(0.1)


@attack("limits", "flood the output", limits={"output_bytes": 100_000})
def output(scene: Scene) -> object:
    for _ in range(1500):
        os.write(1, b"x" * 65536)
    return None


@attack("limits", "flood the error output in one line", limits={"output_bytes": 100_000})
def errors(scene: Scene) -> object:
    for _ in range(1500):
        os.write(2, b"x" * 65536)
    return None


@attack("limits", "spin in many processes", limits={"cpu_seconds": 1.0, "wall_seconds": 15.0})
def spin(scene: Scene) -> object:
    """None is over the limit alone."""
    for _ in range(6):
        if os.fork() == 0:
            _spin(0.8)
            stay()
    return _hold(9)


@attack(
    "limits", "spin in processes that end before they are counted", limits={"cpu_seconds": 1.0, "wall_seconds": 15.0}
)
def spin_uncounted(scene: Scene) -> object:
    """Nobody waits for them: what they used is added to nobody's account."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(24):
        pid = os.fork()
        if pid == 0:
            _spin(0.2)
            os._exit(0)
        with contextlib.suppress(OSError):
            os.waitpid(pid, 0)
    return None


def _spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@attack("limits", "open files without end", limits={"open_files": 128})
def descriptors(scene: Scene) -> object:
    """Raising the limit first, if that can be done."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))
    held: list[int] = []
    with contextlib.suppress(OSError):
        while len(held) < 1500:
            held += [os.open("/dev/null", os.O_RDONLY)]
    return held
