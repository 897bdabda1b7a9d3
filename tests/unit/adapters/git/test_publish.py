"""Pull requests: a bare repository plays the remote, and recorders play `gh` and `glab`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import oracle
import pytest

from referee.adapters.git import GitWorkspace
from referee.adapters.git import outside as reaching
from referee.adapters.git.publish import remote
from referee.domain.errors import UsageError
from referee.ports import Commit, PullRequest

REQUEST = PullRequest(branch="referee/run", title="Mend it", body="# Solved\n\nall of it\n")
FAKE = """#!{python}
import json, os, sys
record = dict(argv=sys.argv, stdin=sys.stdin.read(), prompt=os.environ.get("GIT_TERMINAL_PROMPT"))
open({record!r}, "a").write(json.dumps(record) + "\\n")
print({said!r})
sys.exit({code})
"""


class Forge:
    """A repository with a commit that is on its remote, and where the fakes record what they were asked."""

    def __init__(self, place: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place, self.record = place, place / "asked"
        self.bare, self.root = place / "bare.git", oracle.small(place / "r")
        oracle.git(place, "init", "-q", "--bare", str(self.bare))
        for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            oracle.git(self.root, "config", key, value)
        oracle.git(self.root, "branch", "-M", "main")
        oracle.git(self.root, "remote", "add", "origin", f"git@{host}:shop/till.git")
        oracle.git(self.root, "config", "remote.origin.pushurl", str(self.bare))
        oracle.git(self.root, "push", "-q", "-u", "origin", "main")
        self.bin = place / "bin"
        self.bin.mkdir()
        (self.bin / "git").symlink_to(_which("git"))
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file:https")  # or no folder of this machine could play the remote

    def tool(self, name: str, said: str = "https://forge.example/pull/7", code: int = 0) -> None:
        text = FAKE.format(python=sys.executable, record=str(self.record), said=said, code=code)
        oracle.write(self.bin, name, text.encode(), 0o755)

    @property
    def asked(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []

    def branched(self) -> GitWorkspace:
        """The workspace, with the branch made."""
        workspace = oracle.workspace(self.root)
        start = workspace.snapshot("run")
        after = workspace.apply(start.tree, oracle.patch({"src/a.py": b"x = 2\n"}))
        workspace.commit("run", start.tree, after, Commit(parent=start.head, message="Mend it\n", branch="referee/run"))
        return workspace

    def pushed(self) -> str:
        return oracle.git(self.bare, "for-each-ref", "--format=%(refname)").decode()


def _which(name: str) -> str:
    return next(p for d in os.environ["PATH"].split(":") if os.access(p := f"{d}/{name}", os.X_OK))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forge:
    return Forge(tmp_path, "github.com", monkeypatch)


def test_gh_opens_the_request_from_the_pushed_branch(hub: Forge) -> None:
    hub.tool("gh")
    workspace = hub.branched()
    assert workspace.check_place("pr") == ()
    assert workspace.publish(REQUEST).url == "https://forge.example/pull/7"
    (asked,) = hub.asked
    given = [
        "pr",
        "create",
        "--repo=shop/till",
        "--head=referee/run",
        "--base=main",
        "--title=Mend it",
        "--body-file=-",
    ]
    assert asked["argv"] == [str(hub.bin / "gh"), *given]
    assert (asked["stdin"], asked["prompt"]) == (REQUEST.body, "0")
    assert hub.pushed() == "refs/heads/main\nrefs/heads/referee/run\n"


def test_glab_opens_the_request_where_it_belongs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge = Forge(tmp_path, "gitlab.example.org", monkeypatch)
    forge.tool("glab", "Creating ... \nhttps://gitlab.example.org/shop/till/-/merge_requests/3")
    assert forge.branched().publish(REQUEST).url == "https://gitlab.example.org/shop/till/-/merge_requests/3"
    (asked,) = forge.asked
    where = "--repo=https://gitlab.example.org/shop/till"
    named = [where, "--source-branch=referee/run", "--target-branch=main", "--title=Mend it"]
    assert asked["argv"] == [str(forge.bin / "glab"), "mr", "create", *named, f"--description={REQUEST.body}", "--yes"]


@pytest.mark.parametrize(
    ("spoil", "words", "commands"),
    [
        ("no tool", "gh is not installed", ["gh pr create"]),
        ("tool fails", "gh failed", ["gh pr create"]),
        ("push fails", "git push failed", ["git push origin referee/run", "gh pr create"]),
        ("slow", "whether the request is open is unknown: look with gh pr list", ["gh pr create"]),
        ("no address", "said no address", []),
    ],
)
def test_what_fails_leaves_the_branch_and_says_what_to_type(
    hub: Forge, monkeypatch: pytest.MonkeyPatch, spoil: str, words: str, commands: list[str]
) -> None:
    if spoil != "no tool":
        hub.tool("gh", "", code=1 if spoil == "tool fails" else 0)
    if spoil == "push fails":
        oracle.git(hub.root, "config", "remote.origin.pushurl", str(hub.place / "nowhere"))
    if spoil == "slow":
        oracle.write(hub.bin, "gh", f"#!{sys.executable}\nimport time\ntime.sleep(60)\n".encode(), 0o755)
        workspace = hub.branched()
        monkeypatch.setattr(reaching, "SECONDS", 1.0)
    else:
        workspace = hub.branched()
    done = workspace.publish(REQUEST)
    assert done.url == ""
    assert words in done.said
    assert [c[: len(w)] for c, w in zip(done.commands, commands, strict=True)] == commands
    assert oracle.git(hub.root, "rev-parse", "referee/run")


def test_a_remote_of_an_unknown_kind_gets_the_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge = Forge(tmp_path, "code.example.org", monkeypatch)
    forge.tool("gh")
    done = forge.branched().publish(REQUEST)
    assert "no tool is known for code.example.org" in done.said
    assert forge.asked == []
    assert "refs/heads/referee/run" in forge.pushed()


def test_no_hook_runs_and_nothing_but_the_branch_is_pushed(hub: Forge) -> None:
    hub.tool("gh")
    marker = hub.place / "ran"
    for name in ("pre-push", "reference-transaction"):
        oracle.write(hub.root / ".git/hooks", name, b"#!/bin/sh\n: > %s\nexit 1\n" % os.fsencode(marker), 0o755)
    oracle.git(hub.root, "-c", "core.hooksPath=/dev/null", "tag", "-a", "secret", "-m", "s")
    oracle.git(hub.root, "config", "push.followTags", "true")
    assert hub.branched().publish(REQUEST).url
    assert not marker.exists()
    assert "secret" not in hub.pushed()


@pytest.mark.parametrize(
    ("spoil", "words"), [("no remote", "git remote add origin"), ("unpushed", "would publish them")]
)
def test_what_is_impossible_is_said_before_any_work(hub: Forge, spoil: str, words: str) -> None:
    if spoil == "no remote":
        oracle.git(hub.root, "remote", "remove", "origin")
    else:
        oracle.git(hub.root, "commit", "-q", "--allow-empty", "-m", "not yet for others")
    with pytest.raises(UsageError, match=words):
        oracle.workspace(hub.root).check_place("pr")


def test_rolling_back_tells_what_stays_on_the_remote(hub: Forge) -> None:
    hub.tool("gh")
    workspace = hub.branched()
    workspace.publish(REQUEST)
    assert "git push origin --delete referee/run" in workspace.rollback("run").said[0]
    assert "refs/heads/referee/run" in hub.pushed()


def test_the_remote_is_the_one_that_pushes_go_to() -> None:
    urls = {"remote.origin.url": ("a",), "remote.mine.url": ("b",)}
    assert remote(urls, "refs/heads/main") == "origin"
    assert remote({**urls, "remote.pushdefault": ("mine",)}, "refs/heads/main") == "mine"
    assert remote({**urls, "branch.main.pushremote": ("mine",)}, "refs/heads/main") == "mine"
    assert remote({"remote.only.url": ("c",)}, "refs/heads/main") == "only"
    assert remote({"remote.a.url": ("c",), "remote.b.url": ("d",)}, "") == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.sshCommand", "{program}"),
        ("core.gitProxy", "{program}"),
        ("credential.helper", "!{program}"),
        ("credential.https://github.com.helper", "!{program}"),
        ("remote.origin.receivepack", "{program}; git-receive-pack"),
        ("protocol.ext.allow", "always"),
        ("core.fsmonitor", "{program}"),
        ("gpg.ssh.defaultKeyCommand", "{program}"),
    ],
)
def test_a_program_that_the_repository_names_is_not_run_by_a_push(
    hub: Forge, tmp_path: Path, key: str, value: str
) -> None:
    """The person's own settings may name programs; those that came with the repository are shown instead."""
    mark, program = tmp_path / "mark", tmp_path / "program"
    oracle.write(tmp_path, "program", b"#!/bin/sh\n: > %s\n" % os.fsencode(mark), 0o755)
    workspace = hub.branched()
    oracle.git(hub.root, "config", key, value.format(program=program))
    published = workspace.publish(REQUEST)
    assert (key.lower() in published.said.lower(), published.url) == (True, "")
    assert published.commands[0] == "git push origin referee/run"
    assert not mark.exists()
    if "receivepack" in key:
        oracle.git(hub.root, "push", "-q", "origin", "referee/run", check=False)
        assert mark.exists(), "the control shows that git would run it"


def test_an_address_that_is_a_command_is_not_run(hub: Forge, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    workspace = hub.branched()
    oracle.git(hub.root, "config", "remote.origin.pushurl", f"ext::touch {mark}")
    assert "not allowed" in workspace.publish(REQUEST).said
    assert not mark.exists()
    oracle.git(hub.root, "-c", "protocol.ext.allow=always", "push", "-q", "origin", "referee/run", check=False)
    assert mark.exists(), "the control shows that git would run it"


def test_a_remote_on_this_machine_runs_nothing(hub: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that came along with the repository would run its own hooks."""
    monkeypatch.delenv("GIT_ALLOW_PROTOCOL")
    mark = hub.place / "mark"
    oracle.write(hub.bare / "hooks", "pre-receive", b"#!/bin/sh\n: > %s\nexit 1\n" % os.fsencode(mark), 0o755)
    published = hub.branched().publish(REQUEST)
    assert "origin is a folder on this machine" in published.said
    assert published.commands[0] == "git push origin referee/run"
    assert not mark.exists() and "referee/run" not in hub.pushed()
    oracle.git(hub.root, "push", "-q", "origin", "referee/run", check=False)
    assert mark.exists(), "the control shows that git would run it"


def test_the_repositorys_hooks_and_monitor_are_not_run_by_what_the_tool_does(hub: Forge) -> None:
    mark = hub.place / "mark"
    oracle.write(hub.bin, "gh", b"#!/bin/sh\ngit update-ref refs/heads/x HEAD\necho https://forge.example/1\n", 0o755)
    hook = b"#!/bin/sh\n: > %s\n" % os.fsencode(mark)
    workspace = hub.branched()
    oracle.write(hub.root / ".git/hooks", "reference-transaction", hook, 0o755)
    oracle.git(hub.root, "config", "core.fsmonitor", "true")
    assert workspace.publish(REQUEST).url == "https://forge.example/1"
    assert not mark.exists()
    oracle.git(hub.root, "update-ref", "refs/heads/y", "HEAD")
    assert mark.exists(), "the control shows that git would run it"


def test_a_tool_that_lies_in_the_repository_is_not_run(hub: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    workspace = hub.branched()
    for name in ("gh", "git"):
        oracle.write(hub.root, name, b"#!/bin/sh\ntouch ran\n", 0o755)
    monkeypatch.chdir(hub.root)
    assert "gh is not installed" in workspace.publish(REQUEST).said
    assert not (hub.root / "ran").exists()
