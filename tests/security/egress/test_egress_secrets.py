"""A credential that is added outside: it reaches its own server over checked TLS, and nobody and nothing else."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sandbox_boxes import PYTHON
from town import ANSWER, PUBLIC, Open, Server, Town, a_door, a_town

from referee.adapters.sandbox.egress import Outside, RealNetwork
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.domain.destination import Destination, Injection, destination
from referee.domain.errors import UsageError
from referee.ports import Command, Mount

API, SECRET = "api.example.org", "t0ken-0f-the-user"
PLACE = Destination(host=API, injection=Injection(header="Authorization", variable="TOKEN", form="Bearer {}"))
OTHER = destination("good.example.org:80")


class TlsServer(Server):
    """Answers as `Server` does, behind TLS; what is sent before a failed handshake is not heard."""

    def __init__(self, folder: Path, name: str) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*_certificate(folder, name))
        super().__init__()

    def _one(self, wire: socket.socket) -> None:
        try:
            secured = self._context.wrap_socket(wire, server_side=True)
        except OSError:
            wire.close()
            return
        super()._one(secured)


def _certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for `name` that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, which makes the certificates of this test")
    files = folder / f"{name}.pem", folder / f"{name}.key"
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-x509", "-days", "2"]
    subprocess.run(
        ["openssl", "req", *made, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", files[1],
         "-out", files[0]], check=True, capture_output=True,
    )  # fmt: skip
    return files


@dataclass
class TlsTown(Town):
    """A town that trusts one certificate besides the usual ones, and no name that it does not hold."""

    trusted: str = ""

    def secure(self, wire: socket.socket, host: str) -> socket.socket:
        return ssl.create_default_context(cafile=self.trusted).wrap_socket(wire, server_hostname=host)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture
def town(folder: Path) -> Iterator[TlsTown]:
    server = TlsServer(folder, API)
    plain = Server()
    made = TlsTown(good=server, evil=plain, names={API: [PUBLIC]}, trusted=str(folder / f"{API}.pem"))
    yield made
    server.close()
    plain.close()


def outside(town: Town) -> Outside:
    return Outside(network=town, secret={"TOKEN": SECRET}.get)


def ask(door: Open, *headers: str, url: str = f"http://{API}/x", method: str = "GET", body: str = "") -> bytes:
    return door.say("\r\n".join((f"{method} {url} HTTP/1.1", *headers, "", body)).encode())


def test_the_header_is_added_over_tls_and_nothing_of_it_is_inside(town: TlsTown) -> None:
    """From inside a real sandbox: the answer comes, the secret is in nothing that can be read there."""
    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    code = f"""
import os, urllib.request
print(urllib.request.urlopen("http://{API}/x", timeout=5).read().decode())
print(dict(os.environ), open("/proc/self/environ").read(), open("/proc/1/cmdline").read())
"""
    sandbox = UsernsSandbox(python=PYTHON, outside=outside(town))
    try:
        ended = sandbox.run(Command(argv=(PYTHON, "-I", "-c", code), egress=(PLACE,)))
    finally:
        sandbox.close()
    assert ended.stdout.startswith(b"answer\n"), ended
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in town.good.heard[0]
    assert SECRET not in ended.model_dump_json()
    assert SECRET.encode() not in ended.stdout
    (contact,) = ended.contacts
    assert (contact.target, contact.injected, contact.refused) == (f"{API}:443", "Authorization", "")


def test_a_header_of_that_name_from_inside_is_dropped(town: TlsTown) -> None:
    with a_door(outside(town), PLACE) as door:
        ask(
            door, "Authorization: Bearer mine", "authorization: other", "X-Kept: 1", "Accept-Encoding: gzip", "Range: x"
        )
    lines = town.good.heard[0].split(b"\r\n")
    assert [li for li in lines if li.lower().startswith(b"authorization")] == [
        f"Authorization: Bearer {SECRET}".encode()
    ]
    assert b"X-Kept: 1" in lines
    assert b"Accept-Encoding: identity" in lines
    assert not any(li.startswith(b"Range") for li in lines)


def test_a_tunnel_carries_tls_from_end_to_end(town: TlsTown) -> None:
    """A command's own TLS passes through, to the listed name only, and nothing is added to it."""
    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    code = f"""
import ssl, urllib.request
context = ssl.create_default_context(cafile="/tmp/ca.pem")
print(urllib.request.urlopen("https://{API}/x", timeout=5, context=context).read().decode())
"""
    shown = (Mount(source=town.trusted, target="/tmp/ca.pem"),)
    sandbox = UsernsSandbox(python=PYTHON, outside=outside(town))
    try:
        ended = sandbox.run(Command(argv=(PYTHON, "-I", "-c", code), egress=(PLACE,), mounts=shown))
    finally:
        sandbox.close()
    assert ended.stdout == b"answer\n", ended
    assert b"Authorization" not in town.good.heard[0]
    assert ended.contacts[0].injected == ""


@pytest.mark.parametrize("header", ("Connection: Authorization", "Connection: close, authorization", "Te: trailers"))
def test_no_header_from_inside_takes_it_away(town: TlsTown, header: str) -> None:
    with a_door(outside(town), PLACE) as door:
        ask(door, header)
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in town.good.heard[0]


ECHOES = {
    "whole": b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nyou said: %s!" % SECRET.encode().ljust(29, b"."),
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n"
    + SECRET[:6].encode() + b"\r\nb\r\n" + SECRET[6:].encode() + b"\r\n0\r\n\r\n",
    "to the end": b"HTTP/1.1 200 OK\r\n\r\n" + SECRET.encode() * 3,
    "header": b"HTTP/1.1 200 OK\r\nX-You-Sent: Bearer %s\r\nContent-Length: 0\r\n\r\n" % SECRET.encode(),
    "reason": b"HTTP/1.1 400 No %s\r\nContent-Length: 0\r\n\r\n" % SECRET.encode(),
    "redirect": b"HTTP/1.1 302 F\r\nLocation: http://evil.example/?%s\r\nContent-Length: 0\r\n\r\n" % SECRET.encode(),
}  # fmt: skip


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_a_server_that_echoes_it_does_not_give_it_away(town: TlsTown, echo: bytes) -> None:
    town.good.answer = echo
    with a_door(outside(town), PLACE) as door:
        said = ask(door)
    assert b"*" * len(SECRET) in said
    assert SECRET.encode() not in said
    assert SECRET not in str(door.contacts)


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_the_echoes_do_give_it_away_without_a_mask(town: TlsTown, echo: bytes) -> None:
    """The control: the same answers through a plain destination."""
    with a_town(Server(answer=echo)) as open_town, a_door(Outside(network=open_town), OTHER) as door:
        said = ask(door, url="http://good.example.org/")
    assert SECRET.encode() in said


def test_a_server_with_another_certificate_gets_nothing(town: TlsTown, folder: Path) -> None:
    imposter = TlsServer(folder, "evil.example.org")
    town.good, real = imposter, town.good
    with a_door(outside(town), PLACE) as door:
        said = ask(door)
    imposter.close()
    town.good = real
    assert said.startswith(b"HTTP/1.1 502")
    assert imposter.heard == []
    assert "no secure connection" in door.contacts[0].refused
    assert SECRET not in str(door.contacts) + said.decode()


def test_nobody_else_gets_it(town: TlsTown) -> None:
    """Another listed host, a tunnel to the same one, and a redirect's target."""
    with a_door(outside(town), PLACE, OTHER) as door:
        ask(door, url="http://good.example.org/")
        ask(door, f"Host: {API}", url="http://good.example.org/")
        ask(door, url="http://evil.example/")
        ask(door, url=f"http://{API}:8080/")
    assert len(town.evil.heard) == 1
    assert SECRET.encode() not in town.evil.heard[0]
    assert town.good.heard == []


def test_a_body_is_sent_with_it_and_a_second_request_is_not(town: TlsTown) -> None:
    with a_door(outside(town), PLACE) as door:
        ask(door, "Content-Length: 4", method="POST", body="bodyGET /admin HTTP/1.1\r\n\r\n")
    heard = b"".join(town.good.heard)
    assert b"/admin" not in heard
    assert heard.count(SECRET.encode()) == 1


def test_an_answer_that_is_not_http_is_told_without_quoting_it(town: TlsTown) -> None:
    town.good.answer = b"nonsense " + SECRET.encode() + b"\r\n\r\n"
    with a_door(outside(town), PLACE) as door:
        said = ask(door)
    assert SECRET.encode() not in said
    assert door.contacts[0].refused.startswith("the answer could not be read (")
    assert SECRET not in str(door.contacts)


def test_without_its_value_the_command_is_not_started() -> None:
    sandbox = UsernsSandbox(python=PYTHON or "python3", outside=Outside())
    try:
        with pytest.raises(UsageError, match="environment variable TOKEN, which is not set"):
            sandbox.run(Command(argv=("true",), egress=(PLACE,)))
    finally:
        sandbox.close()


def test_the_real_network_checks_certificates_and_knows_this_machine(folder: Path) -> None:
    server = TlsServer(folder, API)
    with socket.create_connection(("127.0.0.1", server.port), 5) as wire, pytest.raises(ssl.SSLCertVerificationError):
        RealNetwork().secure(wire, API)
    with pytest.raises(OSError, match="address of this machine"):
        RealNetwork().connect("127.0.0.1", server.port)
    assert RealNetwork().resolve("localhost", 80)
    server.close()


def test_the_control_server_answers(town: TlsTown) -> None:
    """What these tests conclude from silence would be heard: TLS from outside, straight to the server."""
    context = ssl.create_default_context(cafile=town.trusted)
    with context.wrap_socket(socket.create_connection(("127.0.0.1", town.good.port), 5), server_hostname=API) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nAuthorization: x\r\n\r\n")
        assert wire.recv(4096) == ANSWER
