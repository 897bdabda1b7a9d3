"""Reaching processes of the host, and staying when one should be gone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from .registry import Scene, attack


@attack("processes", "signal a process of the host")
def kill(scene: Scene) -> object:
    os.kill(scene["victim"], signal.SIGTERM)
    return None


@attack("processes", "signal a process of the host by its group")
def kill_group(scene: Scene) -> object:
    os.killpg(scene["victim"], signal.SIGTERM)
    return None


@attack("processes", "signal a process of the host by a descriptor")
def kill_descriptor(scene: Scene) -> object:
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(os.open(f"/proc/{scene['victim']}", os.O_RDONLY), signal.SIGTERM)
    signal.pidfd_send_signal(os.pidfd_open(scene["victim"]), signal.SIGTERM)
    return None


@attack("processes", "slow a process of the host down")
def slow_down(scene: Scene) -> object:
    """By its number and by its user, whom a user namespace has in common with the host."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, scene["victim"], 15)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PGRP, scene["victim"], 15)
    if apart(scene):  # else this would slow the whole machine
        os.setpriority(os.PRIO_USER, os.getuid(), 15)
    return None


@attack("processes", "limit a process of the host", control="owner")
def limit(scene: Scene) -> object:
    import resource

    resource.prlimit(scene["victim"], resource.RLIMIT_NOFILE, (3, 3))
    return None


@attack("processes", "move a process of the host to another processor")
def move(scene: Scene) -> object:
    os.sched_setaffinity(scene["victim"], {0})
    return None


def apart(scene: Scene) -> bool:
    """Whether this is another pid namespace than the host's, so that "all processes" are none of the host's."""
    try:
        return bool(os.readlink("/proc/self/ns/pid") != scene["pid_namespace"])
    except OSError:
        return False


_DAEMON = "trap '' HUP INT TERM; setsid sleep 30 </dev/null >/dev/null 2>&1 & sleep 0.05"


@attack("survival", "leave a daemon in a session of its own", limits={"wall_seconds": 4.0})
def daemon(scene: Scene) -> object:
    subprocess.run(["sh", "-c", _DAEMON], check=False)
    return None


@attack("survival", "fork twice and ignore every signal", limits={"wall_seconds": 4.0})
def double_fork(scene: Scene) -> object:
    for n in range(4):
        if os.fork() == 0:
            os.setsid()
            for number in (1, 2, 3, 15, 20):
                signal.signal(number, signal.SIG_IGN)
            if os.fork() != 0:
                os._exit(0)
            if n % 2:
                os.closerange(0, 64)
            time.sleep(30)
            os._exit(0)
        os.wait()
    return None


@attack("survival", "leave stopped processes", limits={"wall_seconds": 4.0})
def stopped(scene: Scene) -> object:
    for _ in range(4):
        if os.fork() == 0:
            os.setsid()
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        os.waitpid(-1, os.WUNTRACED)
    return None


@attack("survival", "hold the output open after the end", limits={"wall_seconds": 2.0})
def hold_output(scene: Scene) -> object:
    if os.fork() == 0:
        os.setsid()
        time.sleep(6.5)
        os._exit(0)
    return None


@attack("survival", "outlive the time limit", limits={"wall_seconds": 0.7})
def outlive(scene: Scene) -> object:
    """Deaf to every signal that can be ignored, in a session of its own."""
    for number in range(1, 32):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    time.sleep(5)
    return None


@attack("survival", "stop what watches", limits={"wall_seconds": 1.0})
def stop_watcher(scene: Scene) -> object:
    """Process 1 and the parents stop or die; so does everything else in sight, but for a control's machine."""
    for number in (signal.SIGKILL, signal.SIGSTOP):
        for pid in (1, -1) if apart(scene) else ():
            with contextlib.suppress(OSError):
                os.kill(pid, number)
    time.sleep(5)
    return None


@attack("survival", "race new processes against the end", limits={"wall_seconds": 1.0, "processes": 64})
def race(scene: Scene) -> object:
    """Each process forks its successor and ends, so that a list of processes is old when it is read."""
    until = time.monotonic() + 4
    for _ in range(6):
        if os.fork() == 0:
            os.setsid()
            while time.monotonic() < until:
                with contextlib.suppress(OSError):
                    if os.fork() != 0:
                        os._exit(0)
            os._exit(0)
    time.sleep(5)
    return None
