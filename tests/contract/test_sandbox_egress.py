"""A way out for listed names only, over every backend that can hold a command to a list, as root and as a user."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sandbox_boxes import AN_ORDINARY_USER, PYTHON, Box, OtherUser, _engine, _try_container, open_box, quick

sys.path.append(str(Path(__file__).parents[1] / "security" / "egress"))

from town import Server, Town, a_town

from referee.adapters.sandbox import sandbox_owner
from referee.adapters.sandbox.bubblewrap import BubblewrapSandbox
from referee.adapters.sandbox.container import ContainerSandbox
from referee.adapters.sandbox.egress import Outside
from referee.adapters.sandbox.userns import UsernsSandbox
from referee.domain.destination import destination
from referee.domain.errors import UsageError, WorldFault
from referee.ports import Command, Sandbox

GOOD = "good.example.org"
ALLOWED = (destination(f"{GOOD}:80"), destination(f"{GOOD}:7000"))
MAKERS: dict[str, Callable[[Outside], Sandbox]] = {
    "userns": lambda outside: UsernsSandbox(python=PYTHON, outside=outside),
    "bubblewrap": lambda outside: BubblewrapSandbox(python=PYTHON, outside=outside),
    "container": lambda outside: ContainerSandbox(program=_engine(), python=PYTHON, outside=outside),
}
ASK = f"""
import urllib.request
print(urllib.request.urlopen("http://{GOOD}/x", timeout=5).read().decode())
"""


@dataclass
class Place:
    """A sandbox and what lies outside of it."""

    box: Box
    town: Town


@pytest.fixture(
    params=("userns-root", "userns-user", "bubblewrap-root", "bubblewrap-user", "container-root"), scope="module"
)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    backend, _, who = request.param.partition("-")
    if not PYTHON or (backend == "bubblewrap" and shutil.which("bwrap") is None):
        pytest.skip(f"{backend} or a Python below /usr is not installed")
    if backend == "container":
        _try_container()
    root = os.geteuid() == 0
    if who == "root" and not root:
        pytest.skip("needs root")
    with a_town() as town:
        make = lambda: MAKERS[backend](Outside(network=town))  # noqa: E731 - called in another process
        other = root and who == "user"
        folder = tempfile.mkdtemp(prefix="referee-user-") if other else str(tmp_path_factory.mktemp("box"))
        os.chmod(folder, 0o755)
        sandbox = OtherUser(make, AN_ORDINARY_USER) if other else make()
        try:
            yield Place(Box(request.param, sandbox, folder, None if other else sandbox_owner()), town)
        finally:
            sandbox.close()
            if other:
                shutil.rmtree(folder)


@pytest.fixture
def place(opened: Place) -> Place:
    """The same sandbox for every test, and an outside that has heard nothing yet."""
    opened.town.good.heard.clear()
    opened.town.evil.heard.clear()
    opened.town.good.close_after = True
    return opened


def test_a_listed_name_is_reached_and_counted(place: Place) -> None:
    ended = place.box.python(ASK, egress=ALLOWED)
    assert ended.stdout == b"answer\n", ended
    (contact,) = ended.contacts
    assert (contact.target, contact.refused, contact.times) == (f"{GOOD}:80", "", 1)
    assert contact.sent > 0
    assert contact.received > 6


def test_everything_else_is_refused_and_told(place: Place) -> None:
    code = """
import urllib.request, urllib.error, socket
for url in ("http://evil.example/", "https://evil.example/", "http://127.0.0.1.:80/"):
    try: urllib.request.urlopen(url, timeout=5); print("REACHED")
    except urllib.error.HTTPError as e: print(e.code, e.read().decode().strip())
    except OSError as e: print(e)
"""
    ended = place.box.python(code, egress=ALLOWED)
    assert b"REACHED" not in ended.stdout
    assert b"403 referee: no connection to evil.example:80: it is not on the list" in ended.stdout
    assert [(c.target, bool(c.refused)) for c in ended.contacts] == [
        ("evil.example:80", True), ("evil.example:443", True), ("http://127.0.0.1.:80/", True),
    ]  # fmt: skip
    assert not place.town.evil.heard


def test_servers_inside_are_reached_directly(place: Place) -> None:
    """Over-blocking: what a command serves to itself does not go through the proxy."""
    code = """
import http.server, threading, socket, urllib.request
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"inside")
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Hello)
threading.Thread(target=server.serve_forever, daemon=True).start()
for host in ("127.0.0.1", "localhost", socket.gethostname()):
    print(urllib.request.urlopen(f"http://{host}:{server.server_port}/", timeout=5).read().decode())
"""
    ended = place.box.python(code, egress=ALLOWED)
    assert ended.stdout == b"inside\n" * 3, ended
    assert ended.contacts == ()


def test_an_empty_list_is_nothing_at_all(place: Place) -> None:
    """No proxy, no variable, no listener, no descriptor: as if it did not exist."""
    code = (
        "import os, socket; print(sorted(n for n in os.environ if 'PROXY' in n.upper()), os.listdir('/proc/self/fd'))"
    )
    code += "\nprint(socket.socket().connect_ex(('127.0.0.1', 3128)), open('/proc/net/tcp').read().count(':'))"
    ended = place.box.python(code)
    found, reached = ended.stdout.decode().splitlines()
    assert found.startswith("[] ")
    assert reached == "111 0"
    assert ended.contacts == ()


def test_there_is_no_other_way_out(place: Place) -> None:
    """With a list, the network is still only the proxy: no route, no resolver, no listener of the host."""
    code = f"""
import socket, os
tries = [("127.0.0.1", {place.town.good.port}), ("192.0.2.1", 80), ("93.184.216.34", 80)]
print([socket.socket().connect_ex(t) != 0 for t in tries])
try: print(socket.getaddrinfo("{GOOD}", 80))
except OSError: print("no resolver")
print(sorted(int(n) for n in os.listdir("/proc/self/fd"))[:-1], os.path.exists("/run/referee/egress"))
print([line for line in open("/proc/net/unix").read().splitlines()[1:] if len(line.split()) > 7])
"""
    ended = place.box.python(code, egress=ALLOWED)
    tried, resolver, descriptors, sockets = ended.stdout.decode().splitlines()
    assert tried == "[True, True, True]"
    assert resolver == "no resolver"
    assert descriptors == "[0, 1, 2] False"
    assert sockets == "[]", "the proxy has no socket with a name in here"


def test_the_way_out_ends_with_the_command(place: Place) -> None:
    """A daemon that outlives its command would keep the tunnel; nothing does."""
    code = f"""
import os, socket, time
s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"CONNECT {GOOD}:7000 HTTP/1.1\\r\\n\\r\\n"); s.recv(99)
if os.fork() == 0:
    os.setsid()
    time.sleep(1.5); s.sendall(b"late"); time.sleep(5)
"""
    place.town.good.close_after = False
    ended = place.box.python(code, egress=ALLOWED)
    assert ended.exit_code == 0
    assert b"late" not in b"".join(place.town.good.heard)
    assert ended.contacts[0].target == f"{GOOD}:7000"
    assert place.box.python(ASK, egress=ALLOWED).stdout == b"answer\n"


def test_the_proxy_is_taken_by_nobody_inside(place: Place) -> None:
    """Another listener at the proxy's address would hear what the command's own programs send; it cannot be made."""
    code = """
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try: s.bind(("127.0.0.1", 3128)); s.listen(); print("TAKEN")
except OSError as e: print(e.strerror)
"""
    assert place.box.python(code, egress=ALLOWED).stdout == b"Address already in use\n"


def test_the_gate_of_a_container_is_shut_before_the_command_starts(place: Place) -> None:
    """Whoever could send another listening socket there would be the proxy's second inside."""
    if not place.box.name.startswith("container"):
        pytest.skip("only engines pass no descriptors")
    code = f"""
import socket
gate = socket.socket(socket.AF_UNIX)
try: gate.connect("/run/referee/box/door"); gate.settimeout(2); print("let in" if gate.recv(1) else "shut out")
except OSError as e: print("shut out")
{ASK}"""
    assert place.box.python(code, egress=ALLOWED).stdout == b"shut out\nanswer\n"


def test_a_flood_of_refusals_does_not_stop_the_command(place: Place) -> None:
    code = """
import socket
for n in range(300):
    s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"CONNECT h%d.example:443 HTTP/1.1\\r\\n\\r\\n" % n)
    s.recv(999); s.close()
print("fine")
"""
    ended = place.box.python(code, egress=ALLOWED, limits=quick(30))
    assert ended.stdout == b"fine\n"
    assert sum(c.times for c in ended.contacts) == 300
    assert len(ended.contacts) <= 201


PROGRAMS = {
    "curl": f"curl -sS http://{GOOD}/simple/thing/",
    "pip": f"{PYTHON} -m pip download --no-deps --disable-pip-version-check --retries 0 --trusted-host {GOOD} "
    f"--index-url http://{GOOD}/simple thing",
    "git": f"git clone -q http://{GOOD}/simple/thing/",
    "npm": f"npm view thing --registry http://{GOOD}/simple/ --fetch-retries 0 --no-update-notifier",
    "node": f"""node -e 'const http = require("http"), p = new URL(process.env.http_proxy);
        http.get({{host: p.hostname, port: p.port, path: "http://{GOOD}/simple/thing/", headers: {{Host: "{GOOD}"}}}},
        r => r.pipe(process.stdout))'""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_ordinary_programs_find_the_way(program: str) -> None:
    """They read the usual variables."""
    if not PYTHON or shutil.which(program if program != "pip" else PYTHON, path="/usr/bin:/bin") is None:
        pytest.skip(f"{program} is not installed below /usr")
    with a_town(Server(answer=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")) as town:
        sandbox = UsernsSandbox(python=PYTHON, outside=Outside(network=town))
        try:
            limits = quick(60, memory_bytes=4 << 30)
            ended = sandbox.run(
                Command(argv=("sh", "-c", PROGRAMS[program]), egress=ALLOWED, cwd="/tmp", limits=limits)
            )
        finally:
            sandbox.close()
    if b"No module named pip" in ended.stderr:
        pytest.skip("that Python has no pip")
    assert any(b"GET /simple/thing" in heard for heard in town.good.heard), ended


def test_a_warm_process_and_a_bare_one_have_no_way_out(place: Place, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no way out"):
        place.box.sandbox.warm(Command(argv=(PYTHON, "/x.py"), egress=ALLOWED))
    own = "bare-root" if os.geteuid() == 0 else "bare-user"
    with open_box(own, str(tmp_path)) as bare, pytest.raises(WorldFault, match="held to a list"):
        bare.run("true", egress=ALLOWED)


def test_a_sandbox_that_cannot_start_is_still_a_world_fault(place: Place) -> None:
    with pytest.raises(WorldFault, match="/no/such/folder"):
        place.box.run("true", cwd="/no/such/folder", egress=ALLOWED)


def test_two_commands_at_once_each_have_their_own(tmp_path: Path) -> None:
    """Every command has its own network namespace, so the same address is nobody else's."""
    from concurrent.futures import ThreadPoolExecutor

    if not PYTHON:
        pytest.skip("there is no Python below /usr for commands to use")
    with a_town(Server()) as town:
        sandbox = UsernsSandbox(python=PYTHON, outside=Outside(network=town))
        try:
            command = Command(argv=(PYTHON, "-I", "-c", ASK), egress=ALLOWED)
            other = command.model_copy(update={"egress": (destination("evil.example:80"),)})
            with ThreadPoolExecutor(4) as pool:
                codes = [e.exit_code for e in pool.map(sandbox.run, (command, other, command, other))]
        finally:
            sandbox.close()
    assert codes == [0, 1, 0, 1]
