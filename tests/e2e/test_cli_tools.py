"""`referee sandbox` and `referee check` from outside, on the sample project."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.adapters.sandbox.stage import kernel
from referee.cli.sample import sample

MAIN = "import sys; from referee.cli import main; sys.exit(main())"
Done = subprocess.CompletedProcess[bytes]


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    with sample(None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def referee(shop: Path) -> Callable[..., Done]:
    def run(*arguments: str) -> Done:
        command = [sys.executable, "-c", MAIN, *arguments]
        return subprocess.run(command, cwd=shop, capture_output=True, timeout=120, check=False)

    return run


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_the_command_s(referee: Callable[..., Done], code: int) -> None:
    done = referee("sandbox", "--", "sh", "-c", f"echo out; echo err >&2; exit {code}")
    assert (done.returncode, done.stdout, done.stderr) == (code, b"out\n", b"err\n")


def test_options_after_the_command_are_the_command_s(referee: Callable[..., Done]) -> None:
    assert referee("sandbox", "--", "echo", "--json", "-q", "--repo").stdout == b"--json -q --repo\n"
    assert referee("sandbox", "echo", "--json").stdout == b"--json\n"


def test_output_is_passed_on_byte_for_byte(referee: Callable[..., Done]) -> None:
    assert referee("sandbox", "--", "printf", r"\377\000\033[2J").stdout == b"\xff\x00\x1b[2J"


@pytest.mark.parametrize(("script", "code", "words"), [("kill -TERM $$", 143, b"SIGTERM"), ("sleep 60", 137, b"wall")])
def test_a_killed_command_says_so(referee: Callable[..., Done], script: str, code: int, words: bytes) -> None:
    done = referee("sandbox", "--timeout", "2", "--", "sh", "-c", script)
    assert done.returncode == code and b"the command was killed: " in done.stderr and words in done.stderr


def test_output_comes_as_it_is_written(shop: Path) -> None:
    """Not at the end: whoever waits for a long command sees that it lives."""
    command = [sys.executable, "-c", MAIN, "sandbox", "--timeout", "50", "--", "sh", "-c", "echo first; sleep 40"]
    process = subprocess.Popen(command, cwd=shop, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    began = time.monotonic()
    assert process.stdout.readline() == b"first\n"
    assert time.monotonic() - began < 35
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.stdout.read() == b""
    process.stdout.close()


def test_what_isolated_is_stamped(referee: Callable[..., Done]) -> None:
    isolation = json.loads(referee("sandbox", "--json", "--require-isolation", "--", "true").stdout)["isolation"]
    assert isolation["level"] == "full"
    done = referee("check", "--json")
    assert json.loads(done.stdout)["isolation"] == isolation


@pytest.mark.parametrize(
    ("backend", "level", "words"), [("bare", "none", b"nothing"), ("landlock", "partial", b"part")]
)
def test_what_is_weaker_needs_permission_and_is_said(
    referee: Callable[..., Done], monkeypatch: pytest.MonkeyPatch, backend: str, level: str, words: bytes
) -> None:
    if backend == "landlock" and (kernel.landlock_version() == 0 or not readable_by_all(sys.base_prefix)):
        pytest.skip("needs Landlock, and a Python that the sandbox's user can read")
    monkeypatch.setenv("REFEREE_SANDBOX", backend)
    refused = referee("sandbox", "--require-isolation", "--", "true")
    assert (refused.returncode, refused.stdout) == (69, b"")
    assert b"--allow-degraded" in refused.stderr
    done = referee("sandbox", "--json", "--allow-degraded", "--", "true")
    assert json.loads(done.stdout)["isolation"] == {"backend": backend, "level": level}
    assert b"which isolates" in done.stderr
    assert words in done.stderr


def readable_by_all(path: str) -> bool:
    parts = [Path(path), *Path(path).parents]
    return os.geteuid() != 0 or all(p.stat().st_mode & 0o005 == 0o005 for p in parts)


def test_doctor_says_what_each_backend_isolates(referee: Callable[..., Done]) -> None:
    done = referee("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["chosen"] else 69)
    names = [b["name"] for b in found["backends"]]
    assert names == ["userns", "bubblewrap", "container", "landlock", "bare"]
    for backend in found["backends"]:
        assert set(backend["isolates"]) == set(found["probed"])
        assert backend["usable"] or backend["why_not"]
        assert backend["usable"] or backend["advice"] or backend["name"] == "bare"
    assert found["chosen"] in ("", *(b["name"] for b in found["backends"] if b["usable"] and b["level"] == "full"))


def test_sandbox_json_is_one_document(referee: Callable[..., Done]) -> None:
    done = referee("sandbox", "--json", "--", "sh", "-c", r"printf 'a\377'; exit 3")
    found = json.loads(done.stdout)
    assert done.returncode == found["exit_code"] == 3
    assert found["stdout"] == "a\\xff" and "key" not in found and found["isolation"]["level"] == "full"


def test_nothing_written_inside_is_seen_outside(referee: Callable[..., Done], shop: Path) -> None:
    done = referee("sandbox", "--", "sh", "-c", "echo x > src/new.py && cat src/new.py")
    assert (done.returncode, done.stdout) == (0, b"x\n")
    assert not (shop / "src/new.py").exists()


@pytest.mark.slow
def test_check_fails_on_the_bug_and_passes_without_it(referee: Callable[..., Done], shop: Path) -> None:
    done = referee("check", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["schema"] == "referee.check/1" and not found["passed"]
    assert {row["layer"] for row in found["layers"]} >= {"L2", "L5"}
    assert {f["id"] for f in found["findings"]} == {
        "tests/test_checkout.py::test_voucher_can_bring_delivery_back",
        "tests/test_checkout.py::test_fixed_voucher_can_bring_delivery_back",
    }
    assert 0 < len(found["feedback"]) <= 4000
    path = shop / "src/cornershop/checkout.py"
    path.write_text(path.read_text().replace("charge(basket.weight, goods)", "charge(basket.weight, to_pay)"))
    done = referee("check")
    assert done.returncode == 0 and done.stdout.endswith(b"passed\n")


def test_a_map_is_made_once_and_then_known(referee: Callable[..., Done]) -> None:
    first = json.loads(referee("check", "--map", "--json").stdout)
    assert (first["schema"], first["recorded"]) == ("referee.map/1", first["tests"])
    assert first["functions"] > first["files"] > 0
    again = referee("check", "--map")
    assert again.returncode == 0
    assert f"{first['tests']} tests (all known)".encode() in again.stdout
