"""What the harness itself costs an agent: per bash step, per read, until the first request, and in memory.

A provider on loopback answers at once; what is measured is the time from an answer of it to the next request, less
the time that the command itself took. Compare numbers of one run only: they depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

STEPS = 40


class Provider(ThreadingHTTPServer):
    """Speaks the OpenAI chat format: `calls` in order, then words; remembers when it was asked and answered."""

    daemon_threads = True

    def __init__(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls, self.asked, self.answered = calls, list[float](), list[float]()


class Handler(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(time.monotonic())
        n = len(self.server.asked) - 1
        message: dict[str, Any] = {"role": "assistant", "content": "done"}
        if n < len(self.server.calls):
            name, arguments = self.server.calls[n]
            function = {"name": name, "arguments": json.dumps(arguments)}
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"id": f"c{n}", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop", "message": message}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.server.answered.append(time.monotonic())

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def repository(folder: Path) -> Path:
    """A small repository with a few files."""
    folder.mkdir()
    for n in range(20):
        (folder / f"module{n}.py").write_text(f"def f{n}(a):\n    return a + {n}\n" * 10)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(folder)]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *args], check=True)
    return folder


def play(repo: Path, calls: list[tuple[str, dict[str, Any]]]) -> tuple[float, list[float], float]:
    """Seconds to the first request, seconds between an answer and the next request, and peak megabytes."""
    provider = Provider(calls)
    threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = f"http://127.0.0.1:{provider.server_port}/v1"
    command = [sys.executable, "-m", "referee", "agent", "look around", "--repo", str(repo), "--model", "openai:m"]
    command += ["--base-url", url, "--price", "0,0", "--timeout", "600", "--max-tokens", "10000000", "--json"]
    began = time.monotonic()
    done = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "OPENAI_API_KEY": "none"})
    _, status, usage = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
    provider.shutdown()
    if done.returncode != 0 or len(provider.asked) != len(calls) + 1:
        raise SystemExit(f"exit {done.returncode} after {len(provider.asked)} requests")
    gaps = [ask - said for said, ask in zip(provider.answered, provider.asked[1:], strict=False)]
    return provider.asked[0] - began, gaps, usage.ru_maxrss / 1024


def scripted(repo: Path) -> float:
    """Seconds of a whole run that answers in words at once, with a scripted model."""
    script = repo.parent / "script.jsonl"
    script.write_text(json.dumps({"role": "agent", "content": "nothing to do"}) + "\n")
    command = [sys.executable, "-m", "referee", "agent", "x", "--repo", str(repo), "--model", f"scripted:{script}"]
    began = time.monotonic()
    subprocess.run([*command, "--json"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def bare(times: int) -> float:
    """Median seconds of starting /bin/sh, as the measure of this machine."""
    took = []
    for _ in range(times):
        began = time.monotonic()
        subprocess.run(["/bin/sh", "-c", "true"], check=True)
        took.append(time.monotonic() - began)
    return statistics.median(took)


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        repo = repository(Path(folder) / "repo")
        bash = [("bash", {"command": f"echo {n}", "why": "to measure"}) for n in range(STEPS)]
        read = [("read", {"path": f"module{n % 20}.py", "offset": 1 + n // 20}) for n in range(STEPS)]
        first, steps, reads, memory, whole = [], list[float](), list[float](), [], []
        for _ in range(rounds):
            for calls, into in ((bash, steps), (read, reads)):
                start, gaps, peak = play(repo, calls)
                first.append(start)
                memory.append(peak)
                into += gaps[1:]  # the first makes the sandbox ready
            whole.append(scripted(repo))
        shell = bare(40)
    ms = {"bash step": statistics.median(steps), "read": statistics.median(reads), "sh, by itself": shell}
    for name, seconds in ms.items():
        print(f"{name:24} {seconds * 1000:8.1f} ms")
    print(f"{'first request (provider)':24} {statistics.median(first):8.2f} s")
    print(f"{'whole run (scripted)':24} {statistics.median(whole):8.2f} s")
    print(f"{'peak memory':24} {max(memory):8.0f} MB")


if __name__ == "__main__":
    main()
