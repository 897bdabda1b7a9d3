"""Which hooks run, what their answers mean, and what exactly is trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.domain.hooks import Answer, Hook, Moment, due, fingerprint, moves, parsed, word

GUARD = Hook(moment=Moment.BEFORE, matcher="Bash|Write", command="./guard.sh --strict")


def said(exit_code: int | None = 0, stdout: str = "", stderr: str = "", failed: str = "") -> Answer:
    return Answer(exit_code=exit_code, stdout=stdout, stderr=stderr, failed=failed)


def test_the_shape_that_people_have_is_read_and_the_rest_is_said() -> None:
    entry = {"type": "command", "command": "./guard.sh", "timeout": 5}
    document = {
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [entry, {"type": "prompt", "prompt": "x"}, 7]}],
            "Stop": [{"hooks": [{"command": "x"}]}],
            "Notification": [{"hooks": [entry]}],
            "PostToolUse": [{"matcher": "(", "hooks": [entry]}, {"hooks": [{"command": "x", "timeout": 1e9}]}],
        }
    }
    hooks, notes = parsed(document)
    assert [(h.moment, h.matcher, h.command, h.timeout) for h in hooks] == [
        (Moment.BEFORE, "Bash", "./guard.sh", 5.0), (Moment.STOP, "", "x", 60.0),
    ]  # fmt: skip
    assert len(notes) == 5 and any("Notification" in n for n in notes)


@pytest.mark.parametrize(
    "document", [[], 7, {"hooks": 7}, {"hooks": {"Stop": 7}}, {"hooks": {"Stop": [{"hooks": [None]}]}}]
)
def test_nonsense_is_no_hook(document: Any) -> None:
    assert parsed(document)[0] == ()


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        ("Bash", "bash", True), ("Bash", "bash_out", False), ("", "read", True), ("Edit|Write", "edit", True),
        ("Task", "agent", True), ("mcp__.*", "mcp__t__x", True), ("mcp__t", "mcp__t__x", False),
    ],
)  # fmt: skip
def test_a_matcher_fits_the_whole_name_by_which_people_know_the_tool(matcher: str, tool: str, runs: bool) -> None:
    hook = GUARD.model_copy(update={"matcher": matcher})
    assert (due([hook, hook], Moment.BEFORE, tool) == (hook,)) is runs
    assert due([hook], Moment.AFTER, tool) == ()


@pytest.mark.parametrize(
    ("answer", "blocked"),
    [
        (said(0), ""), (said(2, stderr="never on Friday"), "never on Friday"),
        (said(1, stderr="oops"), "ended with exit code 1: oops; only exit code 0 lets a call happen, so the user must"),
        (said(127, stderr="not found"), "ended with exit code 127: not found"),
        (said(2), "the hook `./guard.sh --strict` says no"),
        (said(None, failed="wall"), "did not come to its end: wall"),
        (said(0, json.dumps({"decision": "block", "reason": "no"})), "no"),
        (said(0, json.dumps({"hookSpecificOutput": {"permissionDecision": "deny"}})), "a hook says no"),
        (said(0, json.dumps({"hookSpecificOutput": {"permissionDecision": "allow"}})), ""),
        (said(0, "[1]"), ""),
    ],
)  # fmt: skip
def test_a_guard_can_forbid_and_never_permit(answer: Answer, blocked: str) -> None:
    found = word(Moment.BEFORE, [GUARD], [answer])
    broken = answer.exit_code not in (0, 2)
    assert (found.blocked == blocked) if not broken else blocked in found.blocked
    assert bool(found.notes) is broken and (not broken or "`./guard.sh --strict`" in found.blocked)


def test_a_hook_that_breaks_where_it_guards_nothing_is_told_and_no_more() -> None:
    for moment in (Moment.AFTER, Moment.STOP):
        found = word(moment, [GUARD], [said(1, stderr="oops")])
        assert not found.blocked and "exit code 1: oops" in found.notes[0]


@pytest.mark.parametrize("stdout", ['{"decision": "block"', '{"a":' + "[" * 200_000])
def test_a_guard_whose_answer_cannot_be_read_blocks(stdout: str) -> None:
    before = word(Moment.BEFORE, [GUARD], [said(0, stdout)])
    assert "began an answer in JSON that is none" in before.blocked and before.notes
    after = word(Moment.AFTER, [GUARD], [said(0, stdout)])
    assert not after.blocked and after.notes


def test_one_no_is_enough() -> None:
    assert word(Moment.BEFORE, [GUARD, GUARD], [said(0), said(2, stderr="no")]).blocked == "no"


def test_what_is_trusted_is_every_word_and_every_script_that_is_named() -> None:
    files = {"guard.sh": "1", "lib/x.py": "2"}
    before = fingerprint([GUARD], (), files.get)
    assert before == fingerprint([GUARD], (), {**files, "other": "3"}.get)
    assert before != fingerprint([GUARD], (), {**files, "guard.sh": "9"}.get)
    assert before != fingerprint([GUARD.model_copy(update={"matcher": ""})], (), files.get)
    inner = Hook(moment=Moment.STOP, command='python "$CLAUDE_PROJECT_DIR"/lib/x.py; sh ${CLAUDE_PROJECT_DIR}/guard.sh')
    assert fingerprint([inner], (), files.get) != fingerprint([inner], (), {**files, "lib/x.py": "9"}.get)
    assert fingerprint([inner], (), files.get) != fingerprint([inner], (), {**files, "guard.sh": "9"}.get)


@pytest.mark.parametrize(
    "command",
    [
        "cd tools && sh guard.sh", '(cd "$X"; ./guard.sh)', "sh -c './guard.sh'", "sh /repo/tools/guard.sh",
        "$PWD/tools/guard.sh", "$(pwd)/guard.sh", "python -m tools.guard",
    ],
)  # fmt: skip
def test_a_script_is_trusted_however_its_place_is_said(command: str) -> None:
    hook = Hook(moment=Moment.BEFORE, command=command)
    paths = ("tools/guard.sh", "tools/guard.py", "other.sh")

    def digest(changed: str, path: str) -> str | None:
        path = path.removeprefix("/repo/")
        return None if path not in paths else "9" if path == changed else "1"

    before, script, other = (
        fingerprint([hook], paths, lambda path, c=changed: digest(c, path))  # type: ignore[misc]
        for changed in ("", "tools/guard.py" if " -m " in command else "tools/guard.sh", "other.sh")
    )
    assert before == other != script
    assert moves(hook) is ("cd" in command)
