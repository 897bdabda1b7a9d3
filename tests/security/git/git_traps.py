"""Repositories and environments that name programs for git to run, each with the command that runs them."""

from __future__ import annotations

import hashlib
import os
import pty
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

PLAIN = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "TERM": "xterm",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Scene(NamedTuple):
    """A repository with one commit and changes to it, and a program that leaves a mark when it is run."""

    root: Path
    program: Path
    mark: Path

    def git(self, *args: str, check: bool = True, **variables: str) -> None:
        """The user's own git, with everything that the repository asks for."""
        said = subprocess.run(["git", *args], cwd=self.root, env=PLAIN | variables, input=b"", capture_output=True)
        assert not check or said.returncode == 0, said.stderr

    def set(self, **settings: str) -> None:
        """Settings of the repository; `__` stands for a dot."""
        for key, value in settings.items():
            self.git("config", key.replace("__", "."), value)

    @property
    def sprung(self) -> bool:
        """Whether the program was run."""
        return self.mark.exists()


def scene(place: Path) -> Scene:
    """A fresh one."""
    made = Scene(place / "r", place / "program", place / "mark")
    (made.root / "src").mkdir(parents=True)
    made.program.write_text(f"#!/bin/sh\ntouch '{made.mark}'\nexit 1\n")
    made.program.chmod(0o755)
    made.git("init", "-q", "-b", "main")
    made.set(user__name="Ada", user__email="ada@example.org")
    (made.root / ".gitattributes").write_text("*.py diff=d filter=f merge=m\n*.txt diff=d merge=m\n")
    (made.root / "src/a.py").write_text("x = 1\n")
    (made.root / "notes.txt").write_text("one\ntwo\nthree\nfour\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "one")
    (made.root / "src/a.py").write_text("x = 2 # changed\n")
    (made.root / "src/b.py").write_text("untracked\n")
    return made


def hook(folder: str, *names: str) -> Callable[[Scene], None]:
    def plant(scene: Scene) -> None:
        for name in names:
            (scene.root / folder).mkdir(exist_ok=True)
            (scene.root / folder / name).symlink_to(scene.program)
        if not folder.startswith(".git/"):
            scene.set(core__hooksPath=folder)

    return plant


def setting(key: str, value: str = "{program}", **more: str) -> Callable[[Scene], None]:
    def plant(scene: Scene) -> None:
        for name, text in more.items():
            scene.set(**{name: text.format(program=scene.program)})
        scene.git("config", key, value.format(program=scene.program))

    return plant


def included(key: str) -> Callable[[Scene], None]:
    def plant(scene: Scene) -> None:
        (scene.root / "more.ini").write_text(f"[core]\n\tfsmonitor = {scene.program}\n")
        scene.git("config", key, str(scene.root / "more.ini"))

    return plant


def lazy_fetch(scene: Scene) -> None:
    """A missing object that git fetches by itself, over a protocol that is any command."""
    scene.set(extensions__partialClone="o", remote__o__url=f"ext::{scene.program}", remote__o__promisor="true")
    scene.set(core__repositoryFormatVersion="1", protocol__ext__allow="always")
    name = hashlib.sha1(b"blob 6\0x = 1\n").hexdigest()
    (scene.root / ".git/objects" / name[:2] / name[2:]).unlink()


def nested(scene: Scene) -> None:
    (scene.root / "inner").mkdir()
    inner = scene._replace(root=scene.root / "inner")
    inner.git("init", "-q")
    inner.set(core__fsmonitor=str(scene.program))


def conflict(scene: Scene) -> None:
    """Two branches that both changed a file, so that a merge of them needs a driver."""
    scene.set(merge__m__driver=f"{scene.program}")
    scene.git("commit", "-qam", "ours")
    scene.git("checkout", "-qb", "other", "HEAD~1")
    (scene.root / "src/a.py").write_text("x = 3\n")
    scene.git("commit", "-qam", "theirs")


def own_git(scene: Scene) -> None:
    """A program named git, found before the real one by a search path that starts where the command runs."""
    for folder in (scene.root, scene.root / ".git", scene.root / "src"):
        (folder / "git").symlink_to(scene.program)


def nothing(scene: Scene) -> None:
    """The environment alone is the trap."""


def alternates(scene: Scene) -> None:
    scene.set(core__alternateRefsCommand=str(scene.program))
    other = scene.root.parent / "other.git"
    scene.git("init", "-q", "--bare", str(other))
    (scene.root / ".git/objects/info/alternates").write_text(f"{other}/objects\n")


class Trap(NamedTuple):
    """`plant` sets it, `control` is the plain git command that springs it, in the environment `variables`."""

    plant: Callable[[Scene], None]
    control: tuple[str, ...]
    variables: Mapping[str, str] = {}
    terminal: bool = False

    def environment(self, scene: Scene) -> dict[str, str]:
        """The variables for this scene."""
        return {k: v.format(program=scene.program, mark=scene.mark) for k, v in self.variables.items()}

    def spring(self, scene: Scene) -> None:
        """What the user's own git does."""
        env = PLAIN | self.environment(scene)
        ours, theirs = pty.openpty()
        out = theirs if self.terminal else subprocess.DEVNULL
        subprocess.run(
            ["sh", "-c", '"$@"', "sh", *self.control], cwd=scene.root, env=env, stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.DEVNULL, timeout=20,
        )  # fmt: skip
        for fd in (ours, theirs):
            os.close(fd)


ASK = ("sh", "-c", "printf 'url=https://h/\n\n' | git credential fill")
COMMIT = ("git", "commit", "-qam", "two")
TRAPS = {
    "fsmonitor": Trap(setting("core.fsmonitor"), ("git", "status")),
    "hook": Trap(hook(".git/hooks", "post-index-change", "pre-commit"), COMMIT),
    "hook of references": Trap(hook(".git/hooks", "reference-transaction"), ("git", "update-ref", "refs/x", "HEAD")),
    "hook of a checkout": Trap(hook(".git/hooks", "post-checkout"), ("git", "checkout", "-q", "-b", "new")),
    "hooks elsewhere": Trap(hook("hooks", "post-index-change", "post-commit", "reference-transaction"), COMMIT),
    "clean filter": Trap(setting("filter.f.clean"), ("git", "add", "src/b.py")),
    "smudge filter": Trap(setting("filter.f.smudge"), ("git", "checkout-index", "-f", "-a")),
    "filter process": Trap(setting("filter.f.process"), ("git", "add", "src/b.py")),
    "required filter": Trap(setting("filter.f.clean", filter__f__required="true"), ("git", "add", "src/b.py")),
    "external diff": Trap(setting("diff.external"), ("git", "diff")),
    "diff driver": Trap(setting("diff.d.command"), ("git", "diff")),
    "textconv": Trap(setting("diff.d.textconv"), ("git", "diff")),
    "merge driver": Trap(conflict, ("git", "merge", "main")),
    "pager": Trap(setting("core.pager"), ("git", "--paginate", "log"), terminal=True),
    "pager of a command": Trap(setting("pager.log"), ("git", "log"), terminal=True),
    "editor": Trap(setting("core.editor"), ("git", "commit", "-a")),
    "ssh": Trap(setting("core.sshCommand"), ("git", "ls-remote", "ssh://h/x")),
    "git proxy": Trap(setting("core.gitProxy"), ("git", "ls-remote", "git://h/x")),
    "remote": Trap(setting("remote.o.url", "ext::{program}", protocol__ext__allow="always"), ("git", "fetch", "o")),
    "lazy fetch": Trap(lazy_fetch, ("git", "cat-file", "-p", "HEAD:src/a.py")),
    "credential helper": Trap(setting("credential.helper", "!{program}"), ASK),
    "references of alternates": Trap(alternates, ("git", "rev-list", "--alternate-refs")),
    "signing": Trap(setting("gpg.program", commit__gpgSign="true"), COMMIT),
    "alias": Trap(setting("alias.see", "!{program}"), ("git", "see")),
    "included configuration": Trap(included("include.path"), ("git", "status")),
    "configuration included on a condition": Trap(included("includeIf.gitdir:**.path"), ("git", "status")),
    "nested repository": Trap(nested, ("git", "-C", "inner", "status")),
    "a git of its own": Trap(own_git, ("git", "status"), {"PATH": f".::{PLAIN['PATH']}"}),
    "GIT_EXTERNAL_DIFF": Trap(nothing, ("git", "diff"), {"GIT_EXTERNAL_DIFF": "{program}"}),
    "GIT_SSH_COMMAND": Trap(nothing, ("git", "ls-remote", "ssh://h/x"), {"GIT_SSH_COMMAND": "{program}"}),
    "GIT_SSH": Trap(nothing, ("git", "ls-remote", "ssh://h/x"), {"GIT_SSH": "{program}"}),
    "GIT_PROXY_COMMAND": Trap(nothing, ("git", "ls-remote", "git://h/x"), {"GIT_PROXY_COMMAND": "{program}"}),
    "GIT_PAGER": Trap(nothing, ("git", "--paginate", "log"), {"GIT_PAGER": "{program}"}, terminal=True),
    "PAGER": Trap(nothing, ("git", "--paginate", "log"), {"PAGER": "{program}"}, terminal=True),
    "GIT_EDITOR": Trap(nothing, ("git", "commit", "-a"), {"GIT_EDITOR": "{program}"}),
    "GIT_ASKPASS": Trap(nothing, ASK,
                        {"GIT_ASKPASS": "{program}"}),
    "SSH_ASKPASS": Trap(nothing, ASK,
                        {"SSH_ASKPASS": "{program}"}),
    "askpass": Trap(setting("core.askPass"), ASK),
    "GIT_CONFIG_COUNT": Trap(nothing, ("git", "status"),
                             {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
                              "GIT_CONFIG_VALUE_0": "{program}"}),
    "GIT_CONFIG_PARAMETERS": Trap(nothing, ("git", "status"),
                                  {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='{program}'"}),
    "GIT_TRACE": Trap(nothing, ("git", "status"), {"GIT_TRACE": "{mark}"}),
    "GIT_TRACE2_EVENT": Trap(nothing, ("git", "status"), {"GIT_TRACE2_EVENT": "{mark}"}),
    "GIT_REDIRECT": Trap(nothing, ("git", "init", "-q"), {"GIT_DIR": "{mark}"}),
}  # fmt: skip
