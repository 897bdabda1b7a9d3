"""Standard input of a command: empty, or what is fed to it while it runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from sandbox_boxes import Box, open_box, quick

from referee.adapters.sandbox import fed, heard
from referee.ports import Command

ECHO = "while read line; do echo got $line; done; echo end"


@pytest.fixture(scope="module", params=["userns", "bubblewrap", "landlock", "bare"])
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    who = "root" if os.geteuid() == 0 else "user"
    with open_box(f"{request.param}-{who}", str(tmp_path_factory.mktemp("box"))) as box:
        yield box


def test_it_is_empty_unless_it_is_fed_and_then_a_conversation(box: Box) -> None:
    command = Command(argv=("/bin/sh", "-c", ECHO), limits=quick(30))
    assert box.sandbox.run(command).stdout == b"end\n"
    out, into = os.pipe()
    first = threading.Event()
    with heard(lambda stream, data: first.set()), fed(out):
        os.write(into, b"one\n")

        def answer() -> None:
            first.wait(20)
            os.write(into, b"two\n")
            os.close(into)

        other = threading.Thread(target=answer)
        other.start()
        assert box.sandbox.run(command).stdout == b"got one\ngot two\nend\n"
        other.join()
    os.close(out)
    assert box.sandbox.run(command).stdout == b"end\n"
