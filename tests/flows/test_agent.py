"""The agent flow end to end with a scripted model: tools, sandbox, judge, landing, record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import small

from referee import api
from referee.adapters.models.scripted import ScriptedModel
from referee.config import load
from referee.domain.errors import Cancelled, UsageError
from referee.domain.reason import StopReason
from referee.domain.report import Outcome
from referee.domain.task import Task
from referee.ports import ModelReply, ModelRequest
from referee.wiring import desk

MEND = {"path": "calc.py", "edits": [{"old": "a - b", "new": "a + b"}]}


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "") -> dict[str, Any]:
    """An answer with tool calls."""
    return {"content": text, "tool_calls": [{"name": name, "arguments": given} for name, given in wanted]}


def says(text: str) -> dict[str, Any]:
    """An answer in words."""
    return {"content": text}


def script(folder: Path, lines: Sequence[dict[str, Any]]) -> str:
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps({"role": "agent", "input_tokens": 100, **line}) + "\n" for line in lines))
    return f"scripted:{path}"


def play(repo: Path, *lines: dict[str, Any], target: str = "", **flags: Any) -> Outcome:
    model = script(repo.parent, lines)
    config = load(str(repo), flags={"models.default": model, **flags}, variables={}, user_file="")
    return api.agent(Task(repo=str(repo), text="mend add", targets=(target,) if target else ()), config)


def observations(repo: Path, run_id: str) -> list[tuple[str, str]]:
    """Each call's tool and what the model was told."""
    asked, told = dict[str, str](), list[tuple[str, str]]()
    for entry in api.journal_lines(run_id, str(repo)):
        if entry["action"] == "call_tool" and entry["kind"] == "requested":
            asked[entry["key"]] = entry["tool"]
        elif entry["action"] == "call_tool":
            told.append((asked[entry["key"]], entry["observation"]))
    return told


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """One run that uses every kind of tool."""
    repo = small.build(tmp_path_factory.mktemp("mended") / "repo")
    (repo / ".gitignore").write_text("out/\n")
    noisy = (
        "python -c \"print('x' * 100_000)\"; mkdir -p out; echo kept > out/made; echo no > tests/test_calc.py; exit 3"
    )
    outcome = play(
        repo,
        calls(("read", {"path": "calc.py"}), ("grep", {"pattern": "def \\w+", "glob": "calc.py"}), text="looking"),
        calls(("bash", {"command": noisy, "why": "to see"})),
        calls(("bash", {"command": "cat out/made; sed -i s/double/twice/ calc.py", "why": "what was left"})),
        calls(("edit", MEND), ("read", {"path": ".harness/outputs/1.txt"})),
        calls(("read", {"path": "calc.py"}), ("edit", MEND)),
        calls(("check", {})),
        calls(("bash", {"command": "sed -i s/twice/double/ calc.py; sleep 9", "why": "undo", "timeout": 1})),
        calls(("check", {"targets": ["tests/test_calc.py"]}), ("check", {})),
        says("add adds now."),
    )
    return repo, outcome


def test_a_replay_decides_the_same_and_starts_no_sandbox(
    mended: tuple[Path, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, outcome = mended
    monkeypatch.setattr(desk, "open_sandbox", None)
    replayed = api.replay(outcome.report.run_id, str(repo))
    assert (replayed.same, replayed.decisions, replayed.first_difference) == (True, 1, None)


def test_the_difference_lands_and_the_answer_and_metrics_are_in_the_report(mended: tuple[Path, Outcome]) -> None:
    repo, outcome = mended
    report = outcome.report
    assert (outcome.stop_reason, report.touched_files) == (StopReason.SOLVED, ("calc.py",))
    assert (repo / "calc.py").read_text() == small.FIXED
    assert (report.answer, report.generator, report.steps) == ("add adds now.", "agent", 1)
    assert report.metrics is not None
    assert (report.metrics.steps, report.metrics.calls) == (9, 12)
    assert "+    return a + b" in outcome.diff


def test_observations_say_how_it_went_what_changed_and_where_the_rest_is(mended: tuple[Path, Outcome]) -> None:
    repo, outcome = mended
    told = observations(repo, outcome.report.run_id)
    texts = [text for _, text in told]
    assert texts[1].endswith("[2 matches in 1 file]")
    assert "exit code 3" in texts[2]
    assert "100001 characters, all of them in .harness/outputs/1.txt" in texts[2]
    assert "the change of tests/test_calc.py was undone" in texts[2]
    assert texts[3].startswith("kept\n[exit code 0"), "what git ignores stays for the next command"
    assert "changed: calc.py" in texts[3]
    assert "no longer as you read it" in texts[4]
    assert "lines 1-1 of 1" in texts[5]
    assert texts[8].count("test_double") and "[failed;" in texts[8], texts[8]
    assert "killed by its time" in texts[9] and "changed: calc.py" in texts[9], "the change before that is kept"
    assert "[passed; pytest: pass" in texts[10]
    assert "pytest-suite: pass" in texts[11]


def test_what_fails_comes_back_as_a_message_until_it_passes(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    wrong = {"path": "calc.py", "edits": [{"old": "a - b", "new": "a * b"}]}
    outcome = play(
        repo,
        calls(("read", {"path": "calc.py"}), ("edit", wrong)),
        says("done"),
        calls(("edit", {"path": "calc.py", "edits": [{"old": "a * b", "new": "a + b"}]})),
        says("now it is"),
        target=small.TARGET,
    )
    assert (outcome.stop_reason, outcome.report.steps) == (StopReason.SOLVED, 2)
    assert [i.passed for i in outcome.report.iterations] == [False, True]
    assert (repo / "calc.py").read_text() == small.FIXED


@pytest.mark.parametrize(("said", "text", "reason"), [("yes", "two\n", "solved"), ("no", "one\n", "human_abort")])
def test_without_checks_a_person_decides(tmp_path: Path, said: str, text: str, reason: str) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    outcome = play(
        repo, calls(("read", {"path": "notes.txt"}), ("write", {"path": "notes.txt", "content": "two\n"})), says("done")
    )
    assert (outcome.stop_reason, outcome.report.exit) == (StopReason.NEEDS_SIGNATURE, 4)
    assert (repo / "notes.txt").read_text() == "one\n"
    assert "+two" in outcome.diff
    assert outcome.report.answer == "done" and outcome.report.metrics is not None
    assert outcome.report.metrics.calls == 2
    (asked,) = api.questions(str(repo))
    assert (asked.kind, asked.status) == ("approval", "open")
    assert "+two" in api.question(asked.id, str(repo)).shown
    api.answer(asked.id, said, str(repo))
    resumed = api.resume(outcome.report.run_id, str(repo))
    assert (resumed.stop_reason.value, (repo / "notes.txt").read_text()) == (reason, text)
    assert resumed.report.answer == "done"


def test_what_waits_to_be_taken_waits_to_land_once_every_landing_is_asked_about(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    outcome = play(
        repo, calls(("read", {"path": "notes.txt"}), ("write", {"path": "notes.txt", "content": "two\n"})), says("done")
    )
    (repo / "referee.toml").write_text('ask_before_landing = "approval"\n')
    assert api.resume(outcome.report.run_id, str(repo)).stop_reason is StopReason.NEEDS_SIGNATURE
    [landing] = [q for q in api.questions(str(repo)) if q.summary.startswith("land a change")]
    api.answer(landing.id, "yes", str(repo))
    assert api.resume(outcome.report.run_id, str(repo)).solved
    assert (repo / "notes.txt").read_text() == "two\n"


def test_what_the_policy_denies_is_not_done_until_a_person_grants_one_call(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    wanted = calls(("write", {"path": "new.txt", "content": "two\n"}))
    outcome = play(
        repo,
        calls(("bash", {"command": "touch made", "why": "to try"})),
        wanted,
        calls(("request", {"what": "write", "why": "the task needs a new file"})),
        wanted,
        wanted,
        says("done"),
        policy="read-only",
    )
    assert outcome.stop_reason is StopReason.NEEDS_SIGNATURE
    assert [tool for tool, _ in observations(repo, outcome.report.run_id)] == ["bash", "write"]
    assert api.replay(outcome.report.run_id, str(repo)).same, "as far as it is recorded"
    (asked,) = api.questions(str(repo))
    api.answer(asked.id, "yes", str(repo))
    assert api.resume(outcome.report.run_id, str(repo)).stop_reason is StopReason.NEEDS_SIGNATURE
    [exactly] = [q for q in api.questions(str(repo)) if q.status == "open"]
    assert '"content": "two' in api.question(exactly.id, str(repo)).shown, "what is granted is seen first"
    assert not (repo / "new.txt").exists()
    api.answer(exactly.id, "yes", str(repo))
    resumed = api.resume(outcome.report.run_id, str(repo))
    assert api.replay(outcome.report.run_id, str(repo)).same
    told = [text for _, text in observations(repo, resumed.report.run_id)]
    assert [text.split(":")[0] for text in told] == [
        "denied by the rule deny *", "denied by the rule deny *", "[granted", "created new.txt",
        "denied by the rule deny *",
    ]  # fmt: skip


@pytest.mark.parametrize("policy", ["read-only", "cautious"])
def test_an_agent_that_may_not_reach_out_does_not_read_from_a_listed_domain_unasked(
    tmp_path: Path, policy: str
) -> None:
    repo = small.build(tmp_path / "repo")
    request = {"method": "GET", "url": "https://docs.invalid/?q=all-of-calc.py"}
    wanted = {"kind": "http", "arguments": request, "why": "to read the manual"}
    outcome = play(
        repo,
        calls(("propose", wanted)),
        says("read"),
        **{"policy": policy, "sandbox.allow_domains": ["docs.invalid"]},
    )
    assert outcome.stop_reason is StopReason.NEEDS_SIGNATURE
    (asked,) = api.questions(str(repo))
    assert (asked.kind, "all-of-calc.py" in asked.summary) == ("signature", True)


def test_an_answer_in_words_changes_nothing_and_needs_no_judge(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    before = small.state(repo)
    outcome = play(repo, calls(("read", {"path": "calc.py"})), says("add subtracts"))
    assert (outcome.stop_reason, outcome.report.answer, outcome.diff) == (StopReason.SOLVED, "add subtracts", "")
    assert outcome.report.isolation is None, "no sandbox was started"
    assert small.state(repo) == before


def test_the_same_loop_plays_in_a_repair(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    model = script(tmp_path, [calls(("read", {"path": "calc.py"}), ("edit", MEND)), says("mended")])
    config = load(str(repo), flags={"generator": "agent", "models.default": model}, variables={}, user_file="")
    outcome = api.fix(Task(repo=str(repo), targets=(small.TARGET,)), config)
    assert (outcome.stop_reason, outcome.report.generator) == (StopReason.SOLVED, "agent")
    assert (repo / "calc.py").read_text() == small.FIXED


def test_equal_failing_calls_are_told_once_and_then_stop_the_run(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    again = calls(("read", {"path": "nowhere.py"}))
    outcome = play(repo, *[again] * 300)
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    told = observations(repo, outcome.report.run_id)
    assert len(told) == 6
    metrics = outcome.report.metrics
    assert metrics is not None and (metrics.calls, metrics.recovery_rate) == (6, 0.0)


def test_background_jobs_are_followed_and_end_with_the_run(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo", {"notes.txt": "one\n"})
    count = "for i in 1 2 3; do echo line $i; sleep 0.1; done; exit 3"
    outcome = play(
        repo,
        calls(("bash", {"command": count, "why": "to count", "background": True, "timeout": 30})),
        calls(("bash", {"command": "echo begun; sleep 500", "why": "to wait", "background": True, "timeout": 600})),
        calls(("job_wait", {"job": "job1"}), ("job_read", {"job": "job1", "since": 14})),
        calls(("job_list", {}), ("job_kill", {"job": "job2"}), ("job_read", {"job": "job9"})),
        calls(("bash", {"command": "sleep 500", "why": "left behind", "background": True, "timeout": 600})),
        says("counted"),
    )
    assert outcome.stop_reason is StopReason.SOLVED
    told = [text for _, text in observations(repo, outcome.report.run_id)]
    assert told[:2] == ["[job1 started]", "[job2 started]"]
    assert told[2].startswith("line 1\nline 2\nline 3\n[job1: ended with exit code 3; ")
    assert told[3].startswith("line 3\n[job1: ended with exit code 3; ")
    assert "job2: running" in told[4]
    assert "[job2: killed" in told[5]
    assert "there is no job job9" in told[6]


def test_a_call_ends_a_series_of_empty_answers(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    look = calls(("read", {"path": "calc.py"}))
    outcome = play(repo, says(""), look, says(""), calls(("edit", MEND)), says(""), says("add adds now."))
    assert (outcome.stop_reason, outcome.report.touched_files) == (StopReason.SOLVED, ("calc.py",))


def test_what_an_agent_changed_before_it_refused_is_shown_and_not_lost(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")
    outcome = play(
        repo,
        calls(("read", {"path": "calc.py"}), ("edit", MEND)),
        {"content": "I would rather not", "finish": "refusal"},
        says("nothing was to be done"),
    )
    assert outcome.stop_reason is StopReason.NON_PROGRESS
    assert "+    return a + b" in outcome.diff
    assert "I would rather not; its changes so far are kept, unjudged" in outcome.report.explanation
    assert (repo / "calc.py").read_text() != small.FIXED


@pytest.mark.parametrize("before", [0, 1])
def test_a_key_that_is_refused_in_the_middle_leaves_the_run_to_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """What was edited and paid for until then is not lost, though nothing was judged; before that nothing is kept."""
    repo, answer = small.build(tmp_path / "repo"), ScriptedModel.call

    def refusing(model: ScriptedModel, request: ModelRequest) -> ModelReply:
        if request.ordinal > before:
            raise UsageError("the key is not accepted")
        return answer(model, request)

    with monkeypatch.context() as patched:
        patched.setattr(ScriptedModel, "call", refusing)
        with pytest.raises(UsageError, match="the key is not accepted" + "; when that is mended, .* goes on" * before):
            play(repo, calls(("read", {"path": "calc.py"}), ("edit", MEND)), says("done"))
    (run,) = api.runs(str(repo), refused=True)
    if not before:
        assert run.status == "done"
        return
    outcome = api.resume(run.run_id, str(repo))
    assert (outcome.stop_reason, outcome.report.tokens) == (StopReason.SOLVED, 200)
    assert (repo / "calc.py").read_text() == small.FIXED


def test_a_run_that_is_stopped_reports_how_the_tools_were_used_so_far(tmp_path: Path) -> None:
    repo = small.build(tmp_path / "repo")

    def stopping(event: str, facts: Mapping[str, Any]) -> None:
        if event == "observed":
            raise Cancelled

    model = script(tmp_path, [calls(("read", {"path": "calc.py"})), says("done")])
    config = load(str(repo), flags={"models.default": model}, variables={}, user_file="")
    report = api.agent(Task(repo=str(repo), text="mend add"), config, stopping).report
    assert report.stop_reason is StopReason.HUMAN_ABORT
    assert report.metrics is not None and (report.metrics.steps, report.metrics.calls) == (1, 1)
