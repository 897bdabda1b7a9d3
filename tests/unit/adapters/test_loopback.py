"""Whose connection it is: asked of the kernel, for a connection that stands."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from referee.adapters.loopback import _owner, ours, told

pytestmark = pytest.mark.skipif(not told(), reason="this system does not tell whose a connection is")
# In bash, which everybody may start; this Python may lie in a home that is closed to others.
_CONNECT = "exec 3<>/dev/tcp/127.0.0.1/$0; read -r"


@pytest.fixture
def listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize("mapped", [False, True])
def test_our_own_connection_is_ours_until_it_is_hung_up(listener: socket.socket, mapped: bool) -> None:
    here = listener.getsockname()
    client = socket.socket(socket.AF_INET6 if mapped else socket.AF_INET)
    with listener, client:
        if mapped:
            client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        client.connect(("::ffff:127.0.0.1", here[1]) if mapped else here)
        accepted, peer = listener.accept()
        with accepted:
            assert ours(peer, here)
            assert not ours((peer[0], peer[1] ^ 1), here)
            assert not ours(peer, ("127.0.0.2", here[1]))
            client.close()
            assert not ours(peer, here), "what is left behind counts as root's"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a program of another user")
def test_a_program_of_another_user_is_told_apart(listener: socket.socket) -> None:
    here = listener.getsockname()
    command = ["bash", "-c", _CONNECT, str(here[1])]
    with listener, subprocess.Popen(command, stdin=subprocess.PIPE, user=65534, group=65534) as other:
        listener.settimeout(30)
        accepted, peer = listener.accept()
        with accepted:
            assert (ours(peer, here), _owner(peer, here)) == (False, 65534)
        other.communicate(b"")
