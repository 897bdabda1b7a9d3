"""B1, B2, B4: what of the host can be seen, spoken to or signalled from inside. Each attack works outside."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_boxes import Box, shown

from referee.adapters.sandbox.environment import environment
from referee.domain.errors import WorldFault

CONNECT = """
import socket, sys
family, address = {family}, {address!r}
s = socket.socket(family); s.settimeout(3)
print(s.connect_ex(address))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder on the host that anybody may read."""
    folder = Path(tempfile.mkdtemp(prefix="referee-host-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_files_of_the_host(box: Box, bare: Box, open_folder: Path) -> None:
    (open_folder / "secret").write_text("SECRET")
    script = (
        f"cat {open_folder}/secret /proc/1/root{open_folder}/secret /proc/self/root/../..{open_folder}/secret; true"
    )
    assert b"SECRET" in bare.sh(script).stdout
    assert b"SECRET" not in box.sh(script).stdout


def test_secrets_of_the_system(box: Box) -> None:
    script = "cat /etc/shadow /etc/sudoers /etc/gshadow; ls /root/.ssh /home /etc/ssl/private; ls /var/run/* /run/*"
    ended = box.sh(script)
    assert ended.stdout.replace(b"sandbox\n", b"").replace(b"/home:\n", b"").strip() in (
        b"",
        b"/run/referee:\nbase\nstage",
    ) or (box.name.startswith("bubblewrap") and b"shadow" not in ended.stdout and b":$" not in ended.stdout), ended
    assert Path("/etc/shadow").exists()


def test_root_shows_only_what_is_listed(box: Box) -> None:
    seen = set(box.sh("ls -A /").stdout.split())
    assert seen <= set(
        b"bin dev etc home lib lib32 lib64 libx32 mnt opt proc root run sbin srv sys tmp usr var".split()
    )


def test_a_link_in_the_base_leads_nowhere(box: Box, bare: Box, open_folder: Path) -> None:
    (open_folder / "secret").write_text("SECRET")
    for each, leaks in ((box, False), (bare, True)):
        base = each.base({"a": ""})
        Path(base.path, "link").symlink_to(open_folder)
        ended = each.sh("cat link/secret", base=base, cwd=base.mount_at)
        assert (b"SECRET" in ended.stdout) == leaks


def test_loopback_of_the_host(box: Box, bare: Box) -> None:
    """Case D13."""
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as listener:
            listener.bind((host, 0))
            listener.listen()
            code = CONNECT.format(family=int(family), address=listener.getsockname()[:2])
            assert bare.python(code).stdout == b"0\n"
            assert box.python(code).stdout not in (b"0\n", b"")


def test_abstract_and_named_sockets_of_the_host(box: Box, bare: Box, open_folder: Path) -> None:
    """Case D11: D-Bus, gpg-agent and container engines listen on such sockets."""
    named = str(open_folder / "socket")
    for address in ("\0referee-test-" + os.urandom(4).hex(), named):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            if address == named:
                os.chmod(named, 0o777)
            code = CONNECT.format(family=int(socket.AF_UNIX), address=address)
            assert bare.python(code).stdout == b"0\n"
            assert box.python(code).stdout not in (b"0\n", b"")


def test_no_route_leads_out(box: Box) -> None:
    """Cloud metadata, a public address and a broadcast, by TCP and UDP; there is one interface, the loopback."""
    code = """
import socket
print([n for _, n in socket.if_nameindex()])
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    for host in ("169.254.169.254", "192.0.2.1", "255.255.255.255"):
        s = socket.socket(socket.AF_INET, kind); s.settimeout(3)
        print(s.connect_ex((host, 80)) == 0)
"""
    lines = box.python(code).stdout.decode().splitlines()
    assert lines[0] == "['lo']"
    assert lines[1:] == ["False"] * 6


def test_processes_of_the_host(box: Box, bare: Box) -> None:
    script = f"kill -0 {os.getpid()} && echo reached; test -d /proc/{os.getpid()}/fd && echo seen"
    assert b"reached\nseen\n" in bare.sh(script).stdout
    ended = box.sh(f"{script}; ls -d /proc/[0-9]* | wc -l")
    assert b"reached" not in ended.stdout
    assert int(ended.stdout.split()[-1]) < 10


def test_environment_of_other_processes(box: Box, bare: Box) -> None:
    """Cases D5, D6, D7: neither inherited nor readable from any process in sight."""
    mine = Path(f"/proc/{os.getpid()}/environ").read_bytes()
    secret = next(line for line in mine.split(b"\0") if line.startswith(b"PATH="))
    script = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; true"
    assert secret in bare.sh(script).stdout
    assert secret not in box.sh(script).stdout
    names = {line.split(b"=")[0] for line in mine.split(b"\0") if line}
    seen = {line.split(b"=")[0] for line in box.sh(script).stdout.splitlines() if b"=" in line}
    ours = {name.encode() for name in environment({})} | {b"PWD", b"OLDPWD", b"SHLVL", b"_"}
    assert (names & seen) <= ours


def test_memory_of_the_first_process(box: Box) -> None:
    """Its memory is ours to keep: who writes there runs outside of every limit. A process's own is its own to write."""
    code = """
import os
for pid in (1, os.getpid()):
    for name, how in (("mem", os.O_RDWR), ("environ", os.O_RDONLY), ("maps", os.O_RDONLY)):
        try: os.close(os.open(f"/proc/{pid}/{name}", how)); print(pid == 1, name)
        except PermissionError: pass
"""
    ended = box.python(code)
    if box.name.startswith("bubblewrap"):
        return  # its init holds nothing of ours
    assert ended.stdout == b"False mem\nFalse environ\nFalse maps\n"


def test_key_of_the_channel_is_in_no_other_place(box: Box) -> None:
    script = "head -c 32 <&3 >/dev/null; cat /proc/*/cmdline /proc/*/environ; cat /tmp/* ~/.* 2>/dev/null; true"
    ended = box.sh(script, channel=True)
    assert len(ended.key) == 32
    assert ended.key not in ended.stdout


def test_a_missing_target_inside_a_mount_is_a_world_fault_not_a_change_of_the_host(box: Box, open_folder: Path) -> None:
    with pytest.raises(WorldFault):
        box.run("true", mounts=(shown(str(open_folder), "/opt/a"), shown(str(open_folder), "/opt/a/inner")))
    assert list(open_folder.iterdir()) == []
