"""Running one hook with its event on standard input: inside the sandbox, or as the person who trusts it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile

from referee.adapters.sandbox import fed
from referee.domain.hooks import Answer, Hook
from referee.ports import Command, Sandbox

_MOST = 20_000  # characters of what is only shown
_MOST_ANSWER = 256_000  # bytes of an answer: it is read whole or not at all


def in_sandbox(sandbox: Sandbox, command: Command, hook: Hook, event: bytes) -> Answer:
    """Run it on a throw-away copy; `command` says where, and everything but what to run."""
    limits = command.limits.model_copy(update={"wall_seconds": hook.timeout})
    argv = ("/bin/sh", "-c", hook.command)
    with tempfile.TemporaryFile() as told:
        told.write(event)
        told.seek(0)
        with fed(told.fileno()):
            ended = sandbox.run(command.model_copy(update={"argv": argv, "limits": limits}))
    if ended.killed_by:
        return Answer(exit_code=None, failed=ended.killed_by)
    return _answer(ended.exit_code, ended.stdout, ended.stderr, max(ended.stdout_total, len(ended.stdout)))


def as_person(root: str, hook: Hook, event: bytes) -> Answer:
    """Run it as the person, in the repository, with their environment: only for what they trust that far."""
    env = {**os.environ, "CLAUDE_PROJECT_DIR": root}
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", hook.command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root, env=env,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as wrong:  # too many processes, or a command that no program can be given
        return Answer(exit_code=None, failed=f"it could not be started: {wrong}")
    try:
        out, err = process.communicate(event, timeout=hook.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Answer(exit_code=None, failed=f"it took longer than {hook.timeout:.0f} s")
    if process.returncode < 0:
        return Answer(exit_code=None, failed=f"signal {-process.returncode}")
    return _answer(process.returncode, out, err, len(out))


def _answer(exit_code: int | None, out: bytes, err: bytes, total: int) -> Answer:
    stderr = err.decode("utf-8", "replace")[:_MOST]
    if total > _MOST_ANSWER:
        return Answer(exit_code=exit_code, stderr=stderr, failed=f"its answer has more than {_MOST_ANSWER} bytes")
    return Answer(exit_code=exit_code, stdout=out.decode("utf-8", "replace"), stderr=stderr)
