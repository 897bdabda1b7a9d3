"""git is called in one place, and never with a command that can throw work away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import referee
from referee.adapters.git.git import ALLOWED

SOURCE = Path(referee.__file__).parent
PROJECT = Path(__file__).parents[4]
WRAPPER = SOURCE / "adapters/git/git.py"
# Plays a user who runs plain git on what an attack left, in a scene of its own.
VICTIM = SOURCE / "adapters/sandbox/attacks"
LOSES = ("clean", "reset", "stash", "checkout")  # not even as advice to a person
MOVES = ("restore", "switch")  # advice only
STARTS = re.compile(
    r"run|Popen|call|check_call|check_output|getoutput|getstatusoutput|system|popen|posix_spawnp?|which|"
    r"exec[lv]p?e?|spawn[lv]p?e?|create_subprocess_(exec|shell)|fork_exec"
)
GIT = re.compile(r"(\S*/)?git(\s|$)")
LOSING = re.compile(rf"\bgit(\s+-\S+(\s+\S+=\S+)?)*\s+({'|'.join(LOSES)})\b")


def wrong(source: str, *, wrapper: bool = False) -> Iterator[str]:
    """Every place where git is started beside the wrapper, or where a command that loses work is spelled out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and LOSING.search(text(node)):
            yield f"line {node.lineno}: {text(node)[:80]!r}"
        if isinstance(node, ast.List | ast.Tuple) and node.elts and GIT.match(text(node.elts[0])) and not wrapper:
            yield f"line {node.lineno}: an argument list that starts with git"
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = [text(argument) for argument in [*node.args, *(k.value for k in node.keywords)]]
            if STARTS.fullmatch(name) and any(map(GIT.match, given)) and not wrapper:
                yield f"line {node.lineno}: git is started by {name}"
            if (
                given
                and given[0] in (*LOSES, *MOVES)
                and name.lstrip("_") in ("run", "start", "git", "ask", "must", "command")
            ):
                yield f"line {node.lineno}: git {given[0]}"


def text(node: ast.AST) -> str:
    """The text of a constant; empty for anything else."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def test_git_is_only_called_by_its_wrapper() -> None:
    found = {
        str(file.relative_to(SOURCE)): said
        for file in sorted(SOURCE.rglob("*.py"))
        if (said := list(wrong(file.read_text(encoding="utf-8"), wrapper=file == WRAPPER or VICTIM in file.parents)))
    }
    assert found == {}


@pytest.mark.parametrize("name", ["dev", ".ci/run"])
def test_the_projects_own_scripts_lose_nothing_either(name: str) -> None:
    assert not LOSING.search((PROJECT / name).read_text(encoding="utf-8"))


def test_the_wrapper_runs_nothing_that_loses_work() -> None:
    assert not ALLOWED.intersection(
        (*LOSES, *MOVES, "gc", "rm", "mv", "pull", "push", "rebase", "merge", "apply", "am")
    )


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['git', 'status'])",
        "subprocess.Popen(('/usr/bin/git', 'log'))",
        "os.system('git status')",
        "run('git status', shell=True)",
        "command = [b'git', *args]",
        "shutil.which('git')",
        "os.execvp('git', argv)",
        "git.run('reset', '--hard')",
        "self._private.git(b'stash', index=index)",
        "words = 'then run git checkout -- .'",
        "words = 'git -c core.x=y clean -fd'",
    ],
)
def test_the_lint_would_notice(source: str) -> None:
    assert list(wrong(source))


@pytest.mark.parametrize(
    "source",
    ["path = os.path.join(folder, b'git')", "git.run('status')", "words = 'git merge --continue'", "x = ('digit', 1)"],
)
def test_the_lint_does_not_cry_wolf(source: str) -> None:
    assert not list(wrong(source))
