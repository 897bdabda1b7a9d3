"""The only way the project runs git: an allow-list of subcommands, neutral configuration, errors in git's words.

A repository's own configuration can name programs (fsmonitor, hooks, filters, pagers, ssh commands). Here
every one of them is overridden or out of reach, whoever wrote that configuration (cases D2, D3).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property

from referee.domain.errors import WorldFault
from referee.domain.value import Value

OLDEST = (2, 32)  # GIT_CONFIG_GLOBAL
# Nothing in this list can change a work tree, except read-tree and checkout-index, which only ever see a base.
# commit-tree, update-ref and hash-object write to the user's store only when a commit or a branch was asked for.
ALLOWED = frozenset(
    {
        "cat-file",
        "check-attr",
        "check-ignore",
        "check-ref-format",
        "checkout-index",
        "commit-tree",
        "diff-files",
        "diff-tree",
        "for-each-ref",
        "hash-object",
        "init",
        "ls-files",
        "ls-tree",
        "merge-base",
        "merge-file",
        "pack-objects",
        "prune",
        "read-tree",
        "rev-list",
        "rev-parse",
        "symbolic-ref",
        "update-index",
        "update-ref",
        "version",
        "write-tree",
    }
)
NOT_LITERAL = frozenset({"check-ignore"})  # it refuses the option; what it takes for more than a name it refuses, too
NEUTRAL = (
    "core.fsmonitor=",  # older versions would run a program called false
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.askPass=",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.directory=*",
)
RUN_BY_PUSH = re.compile(
    r"core\.(sshcommand|gitproxy|askpass|alternaterefscommand)|credential\.(.*\.)?helper|protocol\.(.*\.)?allow|"
    r"remote\..*\.(receivepack|vcs)|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand|core\.fsmonitor"
)
BUILT_IN = {("core.fsmonitor", value) for value in ("", "true", "false", "yes", "no", "on", "off", "1", "0")}
IDENTITY = {
    "GIT_AUTHOR_NAME": "referee",
    "GIT_AUTHOR_EMAIL": "referee@localhost",
    "GIT_COMMITTER_NAME": "referee",
    "GIT_COMMITTER_EMAIL": "referee@localhost",
}


class Finished(Value):
    """How a git command ended; `words` is what it said on standard error."""

    code: int
    out: bytes
    words: str


class Git:
    """The git binary, reached with a fixed environment.

    `variables` are the GIT_* variables that say which repository is meant; the caller's own are dropped.
    """

    def __init__(self, program: str = "git", environ: Mapping[str, str] | None = None) -> None:
        self._program = program
        inherited = os.environ if environ is None else environ
        self._environ = {
            k: v
            for k, v in inherited.items()
            if not k.startswith(("GIT_", "LC_", "SSH_")) and k not in {"LANG", "LANGUAGE"}
        }
        # Who the person says to be; used for commits that are made for them, never otherwise.
        self.person = {k: inherited[k] for k in IDENTITY if inherited.get(k)}
        self._environ |= IDENTITY | {
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "",  # none: stronger than any protocol.NAME.allow of a configuration
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
            "PATH": absolute(self._environ.get("PATH", os.defpath)),
        }

    def run(
        self, *args: str | bytes, variables: Mapping[str, bytes | str], cwd: bytes, stdin: bytes = b"", umask: int = -1
    ) -> Finished:
        """Run one subcommand to its end, whatever its exit code."""
        return self._finished(self.command(*args), variables, cwd=cwd, stdin=stdin, umask=umask)

    def start(self, *args: str, variables: Mapping[str, bytes | str], cwd: bytes) -> subprocess.Popen[bytes]:
        """Start a subcommand that answers requests until its input is closed."""
        try:
            return subprocess.Popen(
                self.command(*args),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env=self.environ(variables),
                start_new_session=True,  # a Ctrl-C in the terminal is ours to handle
            )
        except OSError as error:
            raise self._not_started(error) from error

    def settings(self, folder: bytes) -> dict[str, tuple[str, ...]]:
        """Every setting of a repository by its lower-case key, the one that counts last. Nothing neutral is added."""
        command = [self._program, "--no-pager", "config", "--list", "-z"]
        said = self._finished(command, {"GIT_DIR": folder}, cwd=folder)
        if said.code:
            raise WorldFault(f"git config failed in {os.fsdecode(folder)}: {said.words}")
        found: dict[str, tuple[str, ...]] = {}
        for line in said.out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            key, _, value = line.partition("\n")
            found[key] = (*found.get(key, ()), value)
        return found

    def programs(self, folder: bytes) -> tuple[str, ...]:
        """The settings of a repository's own, not the person's, that name a program for a push to run."""
        command = [self._program, "--no-pager", "config", "--list", "-z", "--show-scope"]
        said = self._finished(command, {"GIT_DIR": folder}, cwd=folder)
        if said.code:
            raise WorldFault(f"git config failed in {os.fsdecode(folder)}: {said.words}")
        fields = said.out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        named = (
            line.partition("\n")[::2]
            for scope, line in zip(fields[::2], fields[1::2], strict=True)
            if scope in ("local", "worktree")
        )
        return tuple(sorted({k for k, v in named if RUN_BY_PUSH.fullmatch(k) and (k, v.lower()) not in BUILT_IN}))

    def command(self, *args: str | bytes) -> list[str | bytes]:
        """The full argument list. Refuses every subcommand that is not on the list."""
        if not args or args[0] not in ALLOWED:
            raise ValueError(f"git {args[0]!r} is not one of the subcommands this project may run")
        neutral = [part for setting in NEUTRAL for part in ("-c", setting)]
        literal = () if args[0] in NOT_LITERAL else ("--literal-pathspecs",)
        return [self._program, "--no-pager", *literal, *neutral, *args]

    def push(self, remote: str, ref: str) -> list[str]:
        """The arguments of a push of one ref, for `outside.py`: no hook, no tag, no submodule, nothing forced."""
        return [
            self._program,
            *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
            *("push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-force"),
            *("--", remote, f"{ref}:{ref}"),
        ]

    def environ(self, variables: Mapping[str, bytes | str]) -> dict[bytes, bytes]:
        """The environment of one command, in bytes: paths need not be text."""
        return {os.fsencode(k): os.fsencode(v) for k, v in {**self._environ, **variables}.items()}

    @cached_property
    def version(self) -> tuple[int, ...]:
        """The version of git. Raises `WorldFault` if it is missing or too old."""
        variables = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        said = self.run("version", variables=variables, cwd=b"/").out.decode("utf-8", "replace")
        found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
        version = tuple(int(part or 0) for part in found.groups()) if found else (0,)
        if version < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise WorldFault(
                f"this is {said.strip() or 'no git that names its version'}; install git {oldest} or newer"
            )
        return version

    def _finished(
        self,
        command: Sequence[str | bytes],
        variables: Mapping[str, bytes | str],
        *,
        cwd: bytes,
        stdin: bytes = b"",
        umask: int = -1,
    ) -> Finished:
        try:
            ended = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                cwd=cwd,
                env=self.environ(variables),
                umask=umask,
                check=False,
            )
        except OSError as error:
            raise self._not_started(error) from error
        return Finished(code=ended.returncode, out=ended.stdout, words=ended.stderr.decode("utf-8", "replace").strip())

    def _not_started(self, error: OSError) -> WorldFault:
        if isinstance(error, FileNotFoundError) and error.filename in (self._program, os.fsencode(self._program)):
            return WorldFault(
                "git is not installed; install it (for example: apt-get install git, or brew install git)"
            )
        return WorldFault(f"git could not be started: {error}")


def absolute(path: str) -> str:
    """A search path without folders that depend on where a command runs: a repository could bring its own git."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder)) or os.defpath
