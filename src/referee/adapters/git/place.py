"""Whether a result can go where it is wanted: found out before a run does any work."""

from __future__ import annotations

import os

from referee.adapters.git.history import HEADS, History
from referee.adapters.git.names import shown
from referee.adapters.git.publish import remote
from referee.domain.errors import UsageError

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "reference-transaction")


def check_place(history: History, how: str) -> tuple[str, ...]:
    """What a person should know about landing at `how`, in words. Raises `UsageError` if it is impossible."""
    kind, _, name = how.partition(":")
    if kind not in ("commit", "branch", "pr"):
        return ()
    _writable(history)
    if not history.head():
        raise UsageError("there is no commit yet, so nothing to commit a repair onto; commit first, or use --land tree")
    _known(history)
    if kind == "branch":
        _free(history, name)
    if kind == "pr":
        _free(history, "referee/new")
        _reachable(history)
    if kind == "commit" and not history.branch():
        raise UsageError(
            "HEAD is detached, so a commit would be on no branch; type git switch -c NAME first, "
            "or use --land branch:NAME"
        )
    return _told(history)


def _writable(history: History) -> None:
    owner = os.stat(history.folder).st_uid
    if os.geteuid() != owner:
        raise UsageError(
            f"{shown(history.folder)} belongs to another user (id {owner}); run as that user, or use --land patch:FILE"
        )
    if not os.access(history.folder, os.W_OK):
        raise UsageError(f"{shown(history.folder)} cannot be written to; use --land tree or --land patch:FILE")


def _known(history: History) -> None:
    if len(history.identity()) < 4:
        raise UsageError(
            'git does not know who you are, so a commit has no author; type git config user.name "Your Name" '
            "and git config user.email you@example.com"
        )


def _free(history: History, name: str) -> None:
    ref = HEADS + name
    if history.ask("check-ref-format", ref).code:
        raise UsageError(f"{name!r} is no name for a branch; use --land branch:NAME with letters, digits, '-' and '/'")
    above = [ref.rsplit("/", n)[0] for n in range(1, name.count("/") + 1)]
    below = history.must("for-each-ref", "--count=1", "--format=%(refname)", ref).decode().strip()
    taken = below or next((a for a in above if history.commit_at(a)), "")
    if taken:
        taken = taken.removeprefix(HEADS)
        raise UsageError(f"there is a branch {taken} already; give --land branch:NAME another name")


def _reachable(history: History) -> None:
    """A pull request needs a remote, and must publish nothing but the repair."""
    found = remote(history.settings(), history.branch())
    if not found:
        raise UsageError(
            "there is no remote to open a pull request at; type git remote add origin URL, or use --land branch:NAME"
        )
    if history.must("rev-list", "--max-count=1", "HEAD", "--not", f"--remotes={found}"):
        raise UsageError(
            f"HEAD has commits that are not on {found}, and a pull request would publish them; push them first, "
            f"or use --land branch:NAME"
        )


def _told(history: History) -> tuple[str, ...]:
    """What a commit made here does not do, of what the person's own git would."""
    settings = history.settings()
    told = []
    hooks = os.fsencode(os.path.expanduser(settings.get("core.hookspath", ("",))[-1]))
    common = history.must("rev-parse", "--path-format=absolute", "--git-common-dir").strip()
    folder = os.path.join(history.root, hooks) if hooks else os.path.join(common, b"hooks")
    found = [h for h in HOOKS if os.access(os.path.join(folder, os.fsencode(h)), os.X_OK)]
    if found:
        told.append(f"hooks are not run for the commit: {', '.join(found)}")
    if settings.get("commit.gpgsign", ("false",))[-1].lower() in ("true", "yes", "on", "1", ""):
        told.append("the commit is not signed although commit.gpgsign is on; sign it: git commit --amend --no-edit -S")
    return tuple(told)
